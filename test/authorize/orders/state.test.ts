import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  actsIn,
  isFinal,
  ORDER_ACTS,
  ORDER_STATUSES,
  type OrderAct,
  type OrderStatus,
  statusAfter,
  statusAt,
} from '#src/authorize/orders/state.ts'

const FINAL = ['executed', 'declined', 'cancelled', 'expired']

describe('the states of an order', () => {
  it('lets no act lead out of a final status', () => {
    expect(ORDER_STATUSES.filter(isFinal)).toEqual(FINAL)
    for (const status of ORDER_STATUSES.filter(isFinal)) {
      for (const act of ORDER_ACTS)
        expect(statusAfter(status, act, { cosign: true }), `${status} ${act}`).toBeUndefined()
    }
  })

  it('names exactly the acts that are possible', () => {
    for (const status of ORDER_STATUSES) {
      const possible = ORDER_ACTS.filter((act) => statusAfter(status, act, { cosign: false }) !== undefined)
      expect(actsIn(status)).toEqual(possible)
    }
  })

  it('expires what is open by the clock, and nothing that is final', () => {
    const expiresAt = new Date(1_000)
    for (const status of ORDER_STATUSES) {
      expect(statusAt(status, { expiresAt, now: new Date(999) })).toBe(status)
      expect(statusAt(status, { expiresAt, now: expiresAt })).toBe(isFinal(status) ? status : 'expired')
    }
  })

  // The model knows only which signatures there are since the last edit, and how the order ended.
  it('executes only what has every signature of its present content, whatever the order of the acts', () => {
    const acts = fc.array(fc.constantFrom(...ORDER_ACTS), { maxLength: 12 })
    fc.assert(
      fc.property(acts, fc.boolean(), (given, cosign) => {
        let status: OrderStatus = 'draft'
        let signatures: OrderAct[] = []
        let ended: OrderAct | undefined
        for (const act of given) {
          const next = statusAfter(status, act, { cosign })
          const isComplete = signatures.includes('sign') && (!cosign || signatures.includes('cosign'))
          const isPossible =
            ended === undefined &&
            (act === 'edit' ||
              act === 'decline' ||
              act === 'cancel' ||
              (act === 'sign' && signatures.length === 0) ||
              (act === 'cosign' && cosign && signatures.join() === 'sign') ||
              (act === 'execute' && isComplete))
          expect(next !== undefined, `${act} in ${status}`).toBe(isPossible)
          if (next === undefined) continue
          status = next
          if (act === 'edit') signatures = []
          else if (act === 'sign' || act === 'cosign') signatures = [...signatures, act]
          else ended = act
        }
      }),
      { numRuns: 500 },
    )
  })
})
