import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { Assertions } from '../passkeys/assertions.ts'
import { readOrderFacts } from './bound-order.ts'
import { SEALED_CONTENT } from './content.ts'
import { NOTES } from './notes.ts'
import { createOrders } from './orders.ts'
import { createRecordRefusals } from './refusals.ts'
import { orderRoutes } from './routes.ts'
import { markExecuted } from './rows.ts'
import { createSigning } from './signing.ts'

export type OrdersFeature = ReturnType<typeof ordersFeature>

// 21 CFR 1311.305(b) asks for two years. An order may be executed three days after its creation.
const KEPT_DAYS = 734

/** Orders of prescribers, their signatures, and what verify reads of them. */
export function ordersFeature(p: Platform, { assertions }: { assertions: Assertions }) {
  const recordRefusals = createRecordRefusals(p)
  const orders = createOrders({ ...p, recordRefusals })
  const signing = createSigning({ ...p, assertions, orders, recordRefusals })
  return defineFeature(
    {
      name: 'orders',
      data: [
        { table: 'orders', key: ['id'], secrets: ['sealed_content'] },
        { table: 'order_signatures', key: ['order_id', 'revision', 'act'] },
      ],
      routes: orderRoutes({ ...p, orders, signing }),
      notes: NOTES,
      sealed: [SEALED_CONTENT],
      retention: [
        rowRule(
          p.db,
          'orders',
          KEPT_DAYS,
          oldRows({ table: 'orders', idType: 'ord', age: 'created_at', isLocking: true }),
        ),
      ],
    },
    {
      /** What intents read and change, in their transactions. */
      orders: { readFacts: readOrderFacts, markExecuted },
    },
  )
}
