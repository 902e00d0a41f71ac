// Programs that pull events, two of them as one consumer, and guests whose keys are revoked while they wait for an event, while
// processes and stores die.

import { setTimeout as delay } from 'node:timers/promises'
import type { ScopeName } from './evidence.ts'
import type { PostgresServer } from './stores.ts'
import type { Tenant } from './tenant.ts'

/** An answer to one of the programs: the events after a position. */
export interface PulledFact {
  scope: ScopeName
  reader: string
  after: number
  nextAfter: number
  positions: number[]
}

/** What one of several long polls was answered that ended by the same event. */
export interface WaitedFact {
  scope: ScopeName
  /** Its key was revoked before the event. */
  isGuest: boolean
  sawEvent: boolean
}

export interface ConsumerFacts {
  /** What each reader was given, in the order of its requests. */
  pulled: PulledFact[]
  /** Acknowledgements with `expected_position` that moved the consumer. */
  moved: { scope: ScopeName; expected: number; position: number }[]
  waited: WaitedFact[]
  /** Where the rows of the consumers say that they stand. */
  consumers: { scope: ScopeName; position: number }[]
}

type Answer = Record<string, unknown>

interface Sending {
  body?: object
  patienceMs?: number
}

const NAME = 'desk'
const PAUSE_MS = 200
const PATIENCE_MS = 10_000
const POLLS = 3
const POLL_SECONDS = 20
// Access is checked again for answers that waited longer than 2 s: the event comes so long after the revocation.
const REVOKED_BEFORE_MS = 2_500
const ROUND_MS = 1_000

/** Makes the consumers, while nothing is broken yet. @param url Of the API. @param tenants Each gets one with two readers. */
export async function startConsumers(url: string, tenants: readonly Tenant[]) {
  const facts: Omit<ConsumerFacts, 'consumers'> = { pulled: [], moved: [], waited: [] }
  let isStopping = false

  /** @param line Method and path. */
  async function send(key: string, line: string, { body, patienceMs = PATIENCE_MS }: Sending = {}) {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(patienceMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Answer
    return { status: response.status, answer }
  }

  async function read(tenant: Tenant, reader: string, limit: number): Promise<PulledFact | undefined> {
    const { status, answer } = await send(tenant.key, `GET /v1/events/pull?consumer=${NAME}&wait=2&limit=${limit}`)
    if (status !== 200) return undefined
    const events = answer.data as { position: number }[]
    const pulled = {
      scope: scopeOf(tenant),
      reader,
      after: Number(answer.after),
      nextAfter: Number(answer.next_after),
      positions: events.map(({ position }) => position),
    }
    facts.pulled.push(pulled)
    return pulled
  }

  async function acknowledge(tenant: Tenant, { after, nextAfter }: PulledFact, isExpecting: boolean): Promise<void> {
    const body = { position: nextAfter, ...(isExpecting && { expected_position: after }) }
    const { status } = await send(tenant.key, `PUT /v1/event-consumers/${NAME}`, { body })
    if (status === 200 && isExpecting && nextAfter > after)
      facts.moved.push({ scope: scopeOf(tenant), expected: after, position: nextAfter })
  }

  // Every third answer is acknowledged behind the one after it, and every second only if no other reader was faster.
  async function consume(tenant: Tenant, reader: string): Promise<void> {
    const late: PulledFact[] = []
    for (let n = 0; !isStopping; n += 1) {
      const work = async () => {
        const pulled = await read(tenant, reader, n % 2 === 0 ? 100 : 7)
        if (pulled === undefined) return
        if (n % 3 === 0) late.push(pulled)
        else for (const one of [pulled, ...late.splice(0)]) await acknowledge(tenant, one, n % 2 === 0)
      }
      // A consumer that could not be reached reads again from its position.
      await work().catch(() => {})
      await delay(PAUSE_MS)
    }
  }

  async function wait(tenant: Tenant, n: number): Promise<void> {
    const guest = { name: `guest ${n}`, scopes: ['admin'] }
    const { answer: made } = await send(tenant.key, 'POST /v1/account/keys', { body: guest })
    const { answer: now } = await send(tenant.key, 'GET /v1/events/pull?limit=1')
    const path = `GET /v1/events/pull?after=${now.latest}&event_type=intent.revoked&wait=${POLL_SECONDS}`
    const session = `guest-${n}`
    const poll = async (key: string, isGuest: boolean): Promise<WaitedFact> => {
      const { answer } = await send(key, path, { patienceMs: POLL_SECONDS * 1_000 + PATIENCE_MS })
      return { scope: scopeOf(tenant), isGuest, sawEvent: JSON.stringify(answer).includes(session) }
    }
    const keys = [...Array<string>(POLLS).fill(String(made.key)), tenant.key]
    const polls = Promise.allSettled(keys.map((key) => poll(key, key !== tenant.key)))
    await delay(PAUSE_MS)
    const revoked = await send(tenant.key, `DELETE /v1/account/keys/${made.api_key_id}`)
    await delay(REVOKED_BEFORE_MS)
    const revocation = { scope: 'session', agent_session_id: session, reason: 'a guest left' }
    if (revoked.status === 200) await send(tenant.key, 'POST /v1/intent/revocations', { body: revocation })
    for (const ended of await polls) if (ended.status === 'fulfilled') facts.waited.push(ended.value)
  }

  async function haveGuests(tenant: Tenant): Promise<void> {
    for (let n = 0; !isStopping; n += 1) {
      await wait(tenant, n).catch(() => {})
      await delay(ROUND_MS)
    }
  }

  await Promise.all(tenants.map(({ key }) => send(key, `PUT /v1/event-consumers/${NAME}`, { body: {} })))
  const running = Promise.all(
    tenants.flatMap((tenant) => [consume(tenant, 'a'), consume(tenant, 'b'), haveGuests(tenant)]),
  )

  return {
    facts,
    async stop() {
      isStopping = true
      await running
    },
  }
}

export async function readConsumers(
  { owner }: Pick<PostgresServer, 'owner'>,
  facts: Omit<ConsumerFacts, 'consumers'>,
): Promise<ConsumerFacts> {
  const consumers = await owner<ConsumerFacts['consumers'][number]>(
    `SELECT account_id || ' ' || environment AS scope, position::int FROM event_consumers`,
  )
  return { ...facts, consumers }
}

function scopeOf({ accountId, environment }: Tenant): ScopeName {
  return `${accountId} ${environment}`
}
