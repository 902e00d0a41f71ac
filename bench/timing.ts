// Whether the time of an answer tells something that its body does not: the same request with keys that the service
// knows and with keys that it does not, and for login links with addresses of users and of nobody; in turns on one
// connection.

import { createKeys } from '#src/account/keys/keys.ts'
import { describe, judgeLimit, median, type Options, type Verdict } from './harness.ts'
import { type Connection, openConnection, requestOf } from './load.ts'
import { startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const SAMPLES = 10_000
const QUICK_SAMPLES = 500
const WARM_UP = 1_000
const KEYS = 50
// One address gets at most this many mails in ten minutes.
const REQUESTS_FOR_ADDRESS = 10
const MAX_DIFFERENCE_PERCENT = 5

type Kind = 'known' | 'unknown'

interface Subject {
  label: string
  status: number
  /** The bytes of the request with a number. */
  request(kind: Kind, index: number): Buffer
}

export async function runTiming({ isQuick, rounds, part, profileDirectory }: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const environment = { ...stage.environment, SIGNUP: 'closed', TRUSTED_PROXIES: '127.0.0.1' }
  const web = await startProcess('workers/web.ts', environment, { profileDirectory })
  const connection = await openConnection(web.port)
  const samples = isQuick ? QUICK_SAMPLES : SAMPLES
  const warmUp = Math.min(samples, WARM_UP)
  try {
    const subjects = [
      ...(part === 'addresses' ? [] : [await makeKeys(stage)]),
      ...(part === 'keys' ? [] : [await makeAddresses(stage, warmUp + rounds * samples)]),
    ]
    const verdicts: Verdict[] = []
    for (const subject of subjects) {
      const measure = measured(connection, subject)
      await measure(warmUp)
      const own: number[] = []
      const floors: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const medians = await measure(samples)
        own.push(medians.known)
        floors.push(medians.unknown)
      }
      verdicts.push(
        judgeLimit({
          name: 'timing',
          label: `difference of the medians of 2 x ${samples} answers, ${subject.label}`,
          unit: '%',
          values: own.map((known, round) => Math.abs(known / (floors[round] ?? Number.NaN) - 1) * 100),
          max: MAX_DIFFERENCE_PERCENT,
          beside: `medians ${describe(own, 'ms')} and ${describe(floors, 'ms')}`,
        }),
      )
    }
    return verdicts
  } finally {
    connection.close()
    await web.stop()
    await stage.close()
  }
}

/** Revoked keys, and for each a key that differs from it in one character: the nearest guess. Both are 401. */
async function makeKeys({ db, scope }: Stage): Promise<Subject> {
  const keys = createKeys({ db })
  const guesses: Record<Kind, Buffer>[] = []
  for (let index = 0; index < KEYS; index += 1) {
    const { id, key } = await keys.create(scope, { name: 'known', scopes: ['verify'] })
    await keys.revoke(scope, id)
    const near = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
    guesses.push({ known: claimsWith(key), unknown: claimsWith(near) })
  }
  await keys.settle()
  return {
    label: 'known (revoked) and unknown keys',
    status: 401,
    request: (kind, index) => guesses[index % KEYS]?.[kind] ?? claimsWith('none'),
  }
}

const claimsWith = (key: string) => requestOf({ method: 'GET', path: '/v1/claims', key })

/** Addresses with and without a user, where sign-up is off. Both are 200; a mail goes to users only, later. */
async function makeAddresses({ owner }: Stage, requests: number): Promise<Subject> {
  const people = Math.ceil(requests / REQUESTS_FOR_ADDRESS)
  await owner(
    `WITH made AS (
       INSERT INTO accounts (id, name, plan, products)
       SELECT 'acc_person' || n, 'Bench', 'developer', '{attest}' FROM generate_series(0, $1 - 1) AS n RETURNING id
     )
     INSERT INTO users (account_id, id, email, role)
     SELECT id, replace(id, 'acc_', 'usr_'), replace(id, 'acc_', '') || '@example.com', 'owner' FROM made`,
    [people],
  )
  await owner('ANALYZE')
  return {
    label: 'login links for known and unknown addresses',
    status: 200,
    request(kind, index) {
      const email = `${kind === 'known' ? 'person' : 'nobody'}${index % people}@example.com`
      return requestOf({
        method: 'POST',
        path: '/v1/auth/magic-link',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': nextClient() },
        body: Buffer.from(JSON.stringify({ email })),
      })
    },
  }
}

let clients = 0

// Another one each time, so that no limit of a client answers.
function nextClient(): string {
  clients += 1
  return `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
}

/** Measures the next requests of a subject: the medians of both kinds, in milliseconds. */
function measured(connection: Connection, { request, status }: Subject) {
  let index = 0
  return async (samples: number): Promise<Record<Kind, number>> => {
    const times: Record<Kind, number[]> = { known: [], unknown: [] }
    for (let taken = 0; taken < samples; taken += 1, index += 1) {
      // Which goes first alternates: the second of two finds warmer caches.
      const order = index % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
      for (const kind of order) {
        const bytes = [request(kind, index)]
        const startedAt = performance.now()
        const answer = await connection.send(bytes)
        times[kind].push(performance.now() - startedAt)
        if (answer.status !== status) throw new Error(`${kind}: ${answer.status} ${answer.body}`)
      }
    }
    return { known: median(times.known), unknown: median(times.unknown) }
  }
}
