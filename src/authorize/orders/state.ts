// The life of an order as one table: which act is possible in which status, and what it leads to. Pure. No job sets `expired`: an
// order that nobody finished in time is expired for every reader by the clock.

export const ORDER_STATUSES = [
  'draft',
  'pending_cosign',
  'authorized',
  'executed',
  'declined',
  'cancelled',
  'expired',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const ORDER_ACTS = ['edit', 'sign', 'cosign', 'decline', 'cancel', 'execute'] as const
export type OrderAct = (typeof ORDER_ACTS)[number]

/** Time from creation during which an order can be signed and executed. */
export const ORDER_HOURS = 72

interface Needs {
  /** A second clinician has to co-sign. */
  cosign: boolean
}

type Move = (needs: Needs) => OrderStatus

const to =
  (status: OrderStatus): Move =>
  () =>
    status

// An edit voids both signatures, so the order begins again. An authorized order can still be declined or cancelled until it is
// executed.
const OPEN = { edit: to('draft'), decline: to('declined'), cancel: to('cancelled') }

const MOVES: Record<OrderStatus, Partial<Record<OrderAct, Move>>> = {
  draft: { ...OPEN, sign: ({ cosign }) => (cosign ? 'pending_cosign' : 'authorized') },
  pending_cosign: { ...OPEN, cosign: to('authorized') },
  authorized: { ...OPEN, execute: to('executed') },
  executed: {},
  declined: {},
  cancelled: {},
  expired: {},
}

/** The status after an act; undefined where the status does not allow it. */
export function statusAfter(status: OrderStatus, act: OrderAct, needs: Needs): OrderStatus | undefined {
  return MOVES[status][act]?.(needs)
}

/** What is possible in a status, for the caller of an act that is not. */
export function actsIn(status: OrderStatus): OrderAct[] {
  return ORDER_ACTS.filter((act) => MOVES[status][act] !== undefined)
}

/** No act leads out of a final status. */
export function isFinal(status: OrderStatus): boolean {
  return actsIn(status).length === 0
}

/** The status at a time. @param stored Status of the last act. */
export function statusAt(stored: OrderStatus, { expiresAt, now }: { expiresAt: Date; now: Date }): OrderStatus {
  return !isFinal(stored) && now >= expiresAt ? 'expired' : stored
}
