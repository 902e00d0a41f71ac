import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { pauseQueue, resumeQueue } from '#src/platform/jobs/operate.ts'
import { fetchAgain } from '../support/again.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'
import { createMaker, type Maker } from './captures.ts'
import { type Ended, type Fate, type Gate, makeFolder, readRows, type Started, start, startGate } from './submission.ts'

const CAPTURES = 12
const UPLOAD = 'POST /v1/media'
const SUBMIT = 'POST /v1/claims/batches'
const RESULTS = 'GET /v1/claims/batches/:id/results'

/** A folder with captures, and an account of its own, so that its claims are those of one test. */
interface Stage {
  folder: string
  out: string
  key: string
  /** Puts a proxy before the service, in place of the one before. */
  through(decide: Parameters<typeof startGate>[1]): Promise<Gate>
  begin(url: string, ...args: string[]): Started
  claimCount(): Promise<number>
  expectWhole(ended: Ended): Promise<void>
}

let system: System
let maker: Maker

beforeAll(async () => {
  system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest'] })
  maker = await createMaker()
})

afterAll(() => system.close())

// They wait for most of their time, so they run beside each other. Those that disturb the whole service run alone.
const test = plain.extend<{ stage: Stage }>({
  stage: async ({ task: _ }, use) => {
    const work = makeFolder()
    const [folder, out] = [join(work.path, 'in'), join(work.path, 'out')]
    const { database } = system
    const account = await createAccounts({ db: database.db }).create({
      id: newAccountId('acc'),
      name: 'x',
      plan: 'enterprise',
    })
    const scope: Scope = { accountId: account.id, environment: 'sandbox' }
    const keys = createKeys({ db: database.db })
    // Without `verify` the command waits for no comparison of photos, which takes longer than all the rest.
    const { key } = await keys.create(scope, { name: 'x', scopes: ['attest'] })
    const { key: readingKey } = await keys.create(scope, { name: 'y', scopes: ['verify'] })
    for (let index = 0; index < CAPTURES; index += 1) {
      maker.write(folder, `photo ${String(index).padStart(2, '0')}`, index)
    }
    const begun: Started[] = []
    let gate: Gate | undefined

    async function claimCount(): Promise<number> {
      const response = await fetchAgain(`${system.baseUrl}/v1/claims?limit=1&include=total_count`, {
        headers: { authorization: `Bearer ${readingKey}` },
      })
      return ((await response.json()) as { total_count: number }).total_count
    }

    await use({
      folder,
      out,
      key,
      async through(decide) {
        await gate?.close()
        gate = await startGate(system.baseUrl, decide)
        return gate
      },
      begin(url, ...args) {
        const started = start([folder, '--url', url, '--out', out, '--batch', '5', '--concurrency', '2', ...args], key)
        begun.push(started)
        return started
      },
      claimCount,
      async expectWhole(ended) {
        expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 })
        const rows = readRows(out)
        expect(rows.map(({ file, status }) => `${file} ${status}`)).toEqual(
          Array.from({ length: CAPTURES }, (_, index) => `photo ${String(index).padStart(2, '0')}.jpg succeeded`),
        )
        expect(new Set(rows.map(({ claim_id }) => claim_id)).size).toBe(CAPTURES)
        expect(await claimCount()).toBe(CAPTURES)
      },
    })
    // A failed test may have left a command waiting.
    for (const { child } of begun) child.kill('SIGKILL')
    await gate?.close()
    work.remove()
  },
})

const POINTS: [where: string, call: string, count: number, fate: Fate][] = [
  ['in the first upload', UPLOAD, 1, 'cut'],
  ['in the midst of the uploads', UPLOAD, 8, 'cut_answer'],
  ['before its first batch arrives', SUBMIT, 1, 'cut'],
  ['after its second batch was accepted, before it learns that', SUBMIT, 2, 'cut_answer'],
  ['when it asks for results', RESULTS, 1, 'cut'],
]

test.concurrent.for(POINTS)(
  'the command continues after it was killed %s, and submits nothing twice',
  (point, { stage }) => interrupt(stage, 'SIGKILL', point),
)
test.concurrent.for(POINTS.slice(1, 4))(
  'the command continues after Ctrl-C %s, and submits nothing twice',
  (point, { stage }) => interrupt(stage, 'SIGINT', point),
)

async function interrupt(
  { through, begin, expectWhole }: Stage,
  signal: 'SIGKILL' | 'SIGINT',
  [, call, count, fate]: (typeof POINTS)[number],
): Promise<void> {
  let isStruck = false
  const { url, seen } = await through((asked, asks) => {
    if (isStruck) return 'cut'
    if (asked !== call || asks !== count) return 'pass'
    isStruck = true
    started.child.kill(signal)
    return fate
  })
  const started = begin(url)
  const first = await started.ended
  expect(isStruck).toBe(true)
  expect(signal === 'SIGKILL' ? first.signal : first.code).toBe(signal === 'SIGKILL' ? 'SIGKILL' : 130)
  if (signal === 'SIGINT') expect(first.stderr).toContain('Run the same command again')
  const uploaded = seen.filter((one) => one === UPLOAD).length

  const second = await through(() => 'pass')
  await expectWhole(await begin(second.url).ended)
  // At most the captures that were under way are sent once more.
  const again = second.seen.filter((one) => one === UPLOAD).length
  expect(again).toBeLessThanOrEqual(CAPTURES - uploaded + 2)
}

test.concurrent('the command ends at once on the second Ctrl-C', async ({
  stage: { out, through, begin, expectWhole },
}) => {
  let isReached = false
  const { url } = await through((call) => {
    if (call !== SUBMIT) return 'pass'
    isReached = true
    return { status: 503, headers: { 'retry-after': '60' } }
  })
  const started = begin(url)
  let said = ''
  started.child.stderr?.on('data', (data) => {
    said += data
  })
  await until(() => isReached)
  // A write into a pipe without a reader never ends; neither does the orderly end.
  execFileSync('mkfifo', [join(out, `results.csv.${started.child.pid}`)])
  started.child.kill('SIGINT')
  await until(() => said.includes('again ends at once'))
  const told = setInterval(() => started.child.kill('SIGINT'), 200)
  const { signal } = await started.ended
  clearInterval(told)
  expect({ signal, hasResults: existsSync(join(out, 'results.csv')) }).toEqual({ signal: 'SIGINT', hasResults: false })
  await expectWhole(await begin(system.baseUrl).ended)
})

test.concurrent('the command continues through a busy, failing, cut off or stopped service', async ({
  stage: { through, begin, expectWhole },
}) => {
  const { url, seen } = await through((call, count) => {
    if (call === UPLOAD && count === 2) return { status: 429, headers: { 'retry-after': '1' } }
    if (call === UPLOAD && count % 5 === 0) return count % 2 === 0 ? 'cut' : 'cut_answer'
    if (call === SUBMIT && count === 1) return { status: 503, headers: { 'retry-after': new Date().toUTCString() } }
    if (call === SUBMIT && count % 3 === 0) return 'cut_answer'
    if (call === RESULTS && count % 2 === 1) return 'cut'
    return 'pass'
  })
  await expectWhole(await begin(url).ended)
  expect(seen.filter((one) => one === SUBMIT).length).toBeGreaterThan(3)
})

test('the command continues while the service is killed and starts again', async ({
  stage: { through, begin, expectWhole },
}) => {
  const kill = () => system.supervisor.children.get('web')?.kill('SIGKILL')
  const { url } = await through((call, count) => {
    if ((call === UPLOAD && count === 4) || (call === SUBMIT && count === 2)) kill()
    return 'pass'
  })
  await expectWhole(await begin(url).ended)
})

test.concurrent('the command gives up with 3 when the service is unreachable for too long, and can be continued', async ({
  stage: { out, through, begin, expectWhole },
}) => {
  const gone = await through((call) => (call === SUBMIT ? 'cut' : 'pass'))
  const first = await begin(gone.url, '--patience', '1').ended
  expect(first).toMatchObject({ code: 3 })
  expect(first.stderr).toContain('Run the same command again')
  expect(readRows(out).map(({ status }) => status)).toEqual(new Array(CAPTURES).fill('pending'))
  await expectWhole(await begin(system.baseUrl).ended)
})

test.concurrent('the command sends smaller batches where a proxy limits their size', async ({
  stage: { through, begin, expectWhole },
}) => {
  const sizes: number[] = []
  const { url } = await through((call, count) => {
    if (call === SUBMIT) sizes.push(count)
    return call === SUBMIT && count === 1 ? { status: 413, body: 'too large' } : 'pass'
  })
  await expectWhole(await begin(url, '--batch', '12').ended)
  expect(sizes).toHaveLength(3)
})

test.concurrent('a photo that breaks its connection each time does not affect the others', async ({
  stage: { out, through, begin, expectWhole },
}) => {
  const broken = createHash('sha256').update(maker.photo(3)).digest('base64')
  const { url } = await through((call, _, { headers }) =>
    call === UPLOAD && headers['content-digest'] === `sha-256=:${broken}:` ? 'cut' : 'pass',
  )
  const { code } = await begin(url).ended
  expect(code).toBe(1)
  const rows = readRows(out)
  expect(rows[3]).toMatchObject({ status: 'rejected', error_code: 'upload_failed' })
  expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(CAPTURES - 1)
  await expectWhole(await begin(system.baseUrl).ended)
})

const AWAY: [how: string, isStruck: (call: string) => boolean, fate: Fate][] = [
  ['gone', () => true, 'cut'],
  ['out of room for photos', (call) => call === UPLOAD, { status: 503, body: '{"detail":"The media store is full."}' }],
]

test.concurrent.for(AWAY)(
  'the command blames no photo for a service that is %s',
  async ([, isStruck, fate], { stage: { through, begin, expectWhole } }) => {
    const first = createHash('sha256').update(maker.photo(0)).digest('base64')
    let tries = 0
    // Others are answered after its first failure, as by a draining service; then none, until it has failed six times.
    const { url } = await through((call, count, { headers }) => {
      const isFirst = headers['content-digest'] === `sha-256=:${first}:`
      if (isFirst) tries += 1
      if (isFirst && tries <= 6) return fate
      if (tries === 0 || tries >= 6 || !isStruck(call)) return 'pass'
      return tries === 1 && count === 2 ? 'pass' : fate
    })
    await expectWhole(await begin(url).ended)
    expect(tries).toBe(7)
  },
)

test.concurrent('the command sends nothing when everything is done', async ({
  stage: { through, begin, expectWhole },
}) => {
  await expectWhole(await begin(system.baseUrl).ended)
  const { url, seen } = await through(() => 'pass')
  await expectWhole(await begin(url).ended)
  expect(seen.filter((one) => one.startsWith('POST'))).toEqual([])
})

test.concurrent('the command submits corrected captures, and only those', async ({
  stage: { folder, through, begin, claimCount, expectWhole },
}) => {
  writeFileSync(join(folder, 'photo 03.json'), '{"bundle": ')
  const first = await begin(system.baseUrl).ended
  expect({ code: first.code, claims: await claimCount() }).toEqual({ code: 1, claims: CAPTURES - 1 })
  maker.write(folder, 'photo 03', 3)
  const { url, seen } = await through(() => 'pass')
  await expectWhole(await begin(url).ended)
  expect(seen.filter((one) => one.startsWith('POST'))).toEqual([UPLOAD, SUBMIT])
})

test('the command submits captures again that were cancelled before their evaluation', async ({
  stage: { out, key, through, begin },
}) => {
  const { db } = system.database
  await pauseQueue(db, 'attest')
  let isCancelled = false
  try {
    const { url } = await through((call) => (call === RESULTS && !isCancelled ? { status: 503 } : 'pass'))
    const started = begin(url)
    const headers = { authorization: `Bearer ${key}` }
    const post = (path: string) => fetchAgain(`${system.baseUrl}${path}`, { method: 'POST', headers })
    const batches = async () => {
      const response = await fetchAgain(`${system.baseUrl}/v1/claims/batches`, { headers })
      return ((await response.json()) as { data: { batch_id: string; accepted: number }[] }).data
    }
    await until(async () => (await batches()).reduce((sum, { accepted }) => sum + accepted, 0) === CAPTURES)
    for (const { batch_id } of await batches()) await post(`/v1/claims/batches/${batch_id}/cancel`)
    isCancelled = true
    const first = await started.ended
    expect({ code: first.code, states: readRows(out).map(({ status }) => status) }).toEqual({
      code: 1,
      states: new Array(CAPTURES).fill('cancelled'),
    })
  } finally {
    await resumeQueue(db, 'attest')
  }
  const second = await begin(system.baseUrl).ended
  expect({ code: second.code, stderr: second.stderr }).toMatchObject({ code: 0 })
  expect(readRows(out).map(({ status }) => status)).toEqual(new Array(CAPTURES).fill('succeeded'))
})

test.concurrent('the command repairs a truncated last line, and refuses an invalid state or another account’s', async ({
  stage: { folder, out, begin, expectWhole },
}) => {
  await expectWhole(await begin(system.baseUrl).ended)
  const state = join(out, 'submit-state.ndjson')
  const whole = readFileSync(state)
  writeFileSync(state, whole.subarray(0, -20))
  await expectWhole(await begin(system.baseUrl).ended)

  const { key: other } = system
  const strange = await start([folder, '--url', system.baseUrl, '--out', out], other).ended
  expect(strange).toMatchObject({ code: 3, stderr: expect.stringContaining('Name another --out') })

  writeFileSync(state, 'not a state\n')
  expect((await begin(system.baseUrl).ended).code).toBe(3)
})

test.concurrent('the command lets only one run use a state', async ({ stage: { through, begin, expectWhole } }) => {
  let isHeld = true
  const { url, seen } = await through((call) => (call === SUBMIT && isHeld ? { status: 503 } : 'pass'))
  const first = begin(url)
  await until(() => seen.includes(SUBMIT))
  const second = await begin(url).ended
  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining('Another run of this command') })
  isHeld = false
  await expectWhole(await first.ended)
})
