// Ends an order without a signature.

import type { CancelOrderRequest, DeclineOrderRequest, Order } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'
import { choicesOf } from '../prescribers/words.ts'

const DECLINE = choicesOf(['dose', 'interaction', 'indication', 'duplicate', 'identity', 'other'])
const CANCEL = choicesOf(['entered_in_error', 'replaced', 'no_longer_needed', 'other'])
const REASON = { name: 'reason', title: 'Reason', kind: 'choice', isRequired: true } as const

export function Decline({ order: { orderId } }: { order: Order }) {
  return (
    <Act
      title="Decline"
      permission="orders.sign"
      name={`${orderId}.decline`}
      isDangerous
      about="A second clinician declines an order."
      fields={[{ ...REASON, values: DECLINE }]}
      review={({ reason }) => (
        <Consequence title="The order is never executed" reason={reason}>
          That is final. Tokens that were issued for it are refused.
        </Consequence>
      )}
      send={(client, { reason }, options) =>
        client.clinical.orders.decline(orderId, { reason: reason as DeclineOrderRequest['reason'] }, options)
      }
    />
  )
}

export function Cancel({ order: { orderId } }: { order: Order }) {
  return (
    <Act
      title="Cancel the order"
      permission="orders.write"
      name={`${orderId}.cancel`}
      isDangerous
      fields={[{ ...REASON, values: CANCEL }]}
      review={({ reason }) => (
        <Consequence title="The order is never executed" reason={reason}>
          That is final. Enter a new order where it is needed after all.
        </Consequence>
      )}
      send={(client, { reason }, options) =>
        client.clinical.orders.cancel(orderId, { reason: reason as CancelOrderRequest['reason'] }, options)
      }
    />
  )
}
