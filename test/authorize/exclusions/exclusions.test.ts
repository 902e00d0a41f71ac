// Exclusion lists from the upload to what is found of prescribers, with jobs that the tests run themselves.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMirror, OPERATOR_SCOPE } from '#src/authorize/exclusions/mirror.ts'
import { npiCheckDigit } from '#src/authorize/prescribers/check-digits.ts'
import { listSubjects } from '#src/authorize/prescribers/tier.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import { createLog } from '#src/platform/log.ts'
import { workOf } from '#src/services.ts'
import type { TestCaller } from '../../support/callers.ts'
import { leieFile, type Row, samFile, zipOf } from '../../support/exclusion-lists.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const LATER = '2099-06-30T00:00:00.000Z'
const LISTS = '/v1/clinical/exclusion-lists'
const REVIEWS = '/v1/clinical/exclusion-reviews'
const SCREENINGS = '/v1/clinical/exclusion-screenings'
/** Rows that match nobody. */
const OTHERS: Row[] = Array.from({ length: 8 }, (_, index) => ({
  ...{ LASTNAME: `OTHER${index}`, FIRSTNAME: 'SOMEBODY', EXCLDATE: `20${10 + index}0101` },
}))
type Json = Record<string, unknown>
type ListName = 'leie' | 'sam'

let service: TestService
let jobs: Jobs<'exclusions'>
let work: Work<'exclusions'>
let npis = 0
const lines: string[] = []

beforeAll(async () => {
  service = await startTestService({
    now: NOW,
    overrides: () => ({
      log: createLog({ process: 'web', level: 'debug' }, { write: (text) => void lines.push(text) }),
    }),
  })
  jobs = createJobs(service.test, 'exclusions')
  work = workOf(service.services, 'exclusions')
})
afterAll(() => service?.close())

const api = () => service.services.authorize.exclusions
const owner = (sql: string, values: unknown[] = []) => service.test.owner<Json>(sql, values)
const get = async (caller: TestCaller, path: string) => (await service.call(caller, path)).json as Json
const dataOf = async (caller: TestCaller, path: string) => (await get(caller, path)).data as Json[]

/** Ids and changes have the order of their times. */
function tick(): void {
  service.clock.now = new Date(service.clock.now.getTime() + 1)
}

async function upload(caller: TestCaller, list: ListName, bytes: Uint8Array, query: Json = {}): Promise<Json> {
  tick()
  const answer = await service.call(
    caller,
    `${LISTS}/${list}/import?${new URLSearchParams(query as Record<string, string>)}`,
    {
      method: 'POST',
      body: bytes,
      headers: { 'Content-Type': 'text/csv' },
    },
  )
  expect(answer).toMatchObject({ status: 202, json: { status: 'queued' } })
  return answer.json as Json
}
/** Uploads a file, runs its import and the screening after it, and returns the import. */
async function importFile(caller: TestCaller, list: ListName, bytes: Uint8Array, query: Json = {}): Promise<Json> {
  const { import_id: id } = await upload(caller, list, bytes, query)
  await jobs.drain(work, caller)
  return get(caller, `${LISTS}/${list}/imports/${id}?wait=1`)
}
const importLeie = (caller: TestCaller, rows: Row[], query: Json = {}) =>
  importFile(caller, 'leie', leieFile([...OTHERS, ...rows]), query)
const importSam = (caller: TestCaller, rows: Row[], query: Json = {}) =>
  importFile(caller, 'sam', samFile([{ Name: 'EXAMPLE LLC' }, ...rows]), {
    file_name: 'SAM_Exclusions_Public_Extract_V2_26324.CSV',
    ...query,
  })

async function enter(caller: TestCaller, person: Json = {}): Promise<{ id: string; npi: string }> {
  npis += 1
  const nine = `1${String(npis).padStart(8, '0')}`
  const npi = nine + npiCheckDigit(nine)
  const { userId } = await service.signIn(caller.accountId, { role: 'approver' })
  const json = {
    ...{ user_id: userId, npi, first: 'Robin', last: 'Quorvex', dob: '1971-03-09' },
    state_licenses: [{ us_state: 'NV', number: 'A1', expires_at: LATER }],
    ...person,
  }
  const answer = await service.call(caller, '/v1/clinical/prescribers', { method: 'POST', json })
  expect(answer).toMatchObject({ status: 200 })
  return { id: (answer.json as { prescriber_id: string }).prescriber_id, npi }
}
async function check(scope: Scope, id: string, { at = NOW, state }: { at?: Date; state?: string } = {}) {
  return service.test.db.tenant(scope, async (tx) => {
    const subjects = await listSubjects(tx, { ...scope, after: undefined, limit: 100 })
    return (await api().exclusions.check(tx, scope, { at, state }, subjects)).get(id)
  })
}
const statusOf = async (scope: Scope, id: string, options = {}) => (await check(scope, id, options))?.status

describe('a list', () => {
  it('excludes by NPI and by name and birth date, and asks for a review by the name alone', async () => {
    const caller = await service.makeCaller()
    const [byNpi, byName, shared, clear] = [
      await enter(caller),
      await enter(caller, { first: 'José', last: 'O’Brien-Vex' }),
      await enter(caller, { last: 'Sharedvex' }),
      await enter(caller, { last: 'Clearvex', dob: null }),
    ]
    expect(await get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: null, source: null, is_stale: true })
    expect(await check(caller, clear.id)).toEqual({ status: 'clear', evidence: [], stale: ['leie', 'sam'] })
    const made = await importLeie(
      caller,
      [
        { NPI: byNpi.npi, BUSNAME: 'EXAMPLE INC', EXCLDATE: '20261101' },
        { LASTNAME: "O'BRIEN-VEX", FIRSTNAME: 'JOSE', DOB: '19710309' },
        { LASTNAME: 'SHAREDVEX', FIRSTNAME: 'ROBIN', DOB: '' },
        // Nothing of these is shared but sentinels and empty cells.
        { LASTNAME: 'ELSEVEX', FIRSTNAME: 'ROBIN', DOB: '' },
        { LASTNAME: 'CLEARVEX', FIRSTNAME: '', NPI: '0000000000', DOB: '00000000' },
      ],
      { file_name: 'UPDATED.csv' },
    )
    expect(made).toMatchObject({ status: 'succeeded', failure: null, rows: 13, list_date: '2026-11-01', kind: 'full' })
    const state = await get(caller, `${LISTS}/leie`)
    expect(state).toMatchObject({ list_date: '2026-11-01', rows: 13, source: 'account', is_stale: false })
    expect(await check(caller, byNpi.id)).toMatchObject({
      status: 'excluded',
      evidence: [
        { list: 'leie', list_date: '2026-11-01', matched_on: 'npi', row_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      stale: ['sam'],
    })
    expect(await check(caller, byName.id)).toMatchObject({
      status: 'excluded',
      evidence: [{ matched_on: 'name_birth_date' }],
    })
    expect(await check(caller, shared.id)).toMatchObject({ status: 'review', evidence: [{ matched_on: 'name' }] })
    expect(await statusOf(caller, clear.id)).toBe('clear')

    // The screening after the import lists what changed, opens the review and tells owners and admins.
    const [screening] = await dataOf(caller, SCREENINGS)
    expect(screening).toMatchObject({ cause: 'leie', status: 'succeeded', screened: 4, changed: 3 })
    const changes = await dataOf(caller, `${SCREENINGS}/${screening?.exclusion_screening_id}/changes`)
    expect(
      Object.fromEntries(changes.map(({ prescriber_id: id, status_before, status }) => [id, [status_before, status]])),
    ).toEqual({
      [byNpi.id]: ['clear', 'excluded'],
      [byName.id]: ['clear', 'excluded'],
      [shared.id]: ['clear', 'review'],
    })
    expect(await dataOf(caller, `${REVIEWS}?status=open`)).toMatchObject([
      { prescriber_id: shared.id, matched_on: 'name' },
    ])
    // Nothing changed: no second list of changes.
    await importLeie(caller, [{ LASTNAME: 'SHAREDVEX', FIRSTNAME: 'ROBIN', DOB: '' }], { force: 'true' })
    expect(await dataOf(caller, SCREENINGS)).toMatchObject([{ changed: 2 }, { changed: 3 }])
  })

  it('of SAM asks for a review by name and state, of people alone, and excludes by NPI', async () => {
    const caller = await service.makeCaller()
    const [here, elsewhere, byNpi, other] = [
      await enter(caller),
      await enter(caller, { last: 'Farvex' }),
      await enter(caller, { last: 'Numbervex' }),
      await enter(caller, { last: 'Notselfvex' }),
    ]
    const note = { 'Additional Comments': 'The entity is\r\nnot itself excluded, "see", file' }
    const made = await importSam(caller, [
      { First: 'ROBIN', Last: 'QUORVEX', 'Excluding Agency': 'HHS' },
      { First: 'ROBIN', Last: 'QUORVEX', 'Excluding Agency': 'OPM' },
      { First: 'ROBIN', Last: 'FARVEX', 'State / Province': 'CA' },
      { Classification: '', NPI: byNpi.npi },
      { First: 'ROBIN', Last: 'NOTSELFVEX', NPI: other.npi, ...note },
      { First: 'ROBIN', Last: 'NOTSELFVEX', NPI: other.npi, 'Termination Date': '11/19/2026' },
    ])
    expect(made).toMatchObject({ status: 'succeeded', rows: 7, list_date: '2026-11-20' })
    expect((await check(caller, here.id))?.evidence).toHaveLength(2)
    expect(await statusOf(caller, here.id)).toBe('review')
    expect(await statusOf(caller, elsewhere.id)).toBe('clear')
    expect(await statusOf(caller, byNpi.id)).toBe('excluded')
    expect(await statusOf(caller, other.id)).toBe('clear')
    const late = new Date('2026-11-28T12:00:00Z')
    expect((await check(caller, here.id, { at: late }))?.stale).toEqual(['leie', 'sam'])
  })

  it('counts a waiver in the state of the order, a reinstatement, and an exclusion from its first day on', async () => {
    const caller = await service.makeCaller()
    const [waived, back, future] = [await enter(caller), await enter(caller), await enter(caller)]
    await importLeie(caller, [
      { NPI: waived.npi, WVRSTATE: 'NM', WAIVERDATE: '20200101' },
      { NPI: back.npi, REINDATE: '20200101' },
      { NPI: future.npi, EXCLDATE: '20261210' },
    ])
    expect(await statusOf(caller, waived.id, { state: 'NM' })).toBe('clear')
    expect(await statusOf(caller, waived.id, { state: 'NV' })).toBe('excluded')
    expect(await statusOf(caller, back.id)).toBe('clear')
    expect(await statusOf(caller, future.id)).toBe('review')
    expect(await statusOf(caller, future.id, { at: new Date('2026-12-10T00:00:00Z') })).toBe('excluded')
    expect(await get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2020-01-01' })
  })

  it('of one account changes no other answer, and the same file is stored once', async () => {
    const [caller, stranger] = [await service.makeCaller(), await service.makeCaller()]
    const [own, other] = [await enter(caller), await enter(stranger)]
    const rows = [{ NPI: own.npi }, { NPI: other.npi }]
    await importLeie(caller, rows)
    expect(await statusOf(caller, own.id)).toBe('excluded')
    expect(await check(stranger, other.id)).toEqual({ status: 'clear', evidence: [], stale: ['leie', 'sam'] })
    expect(await get(stranger, `${LISTS}/leie`)).toMatchObject({ list_date: null })
    const [{ count: before } = {}] = await owner('SELECT count(*) FROM exclusion_files')
    // Another date in the name is the other account's own.
    await importLeie(stranger, rows, { file_name: '2026-11-19.csv' })
    expect(await owner('SELECT count(*) FROM exclusion_files')).toEqual([{ count: before }])
    expect(await statusOf(stranger, other.id)).toBe('excluded')
    expect([await get(caller, `${LISTS}/leie`), await get(stranger, `${LISTS}/leie`)]).toMatchObject([
      { list_date: '2018-02-20' },
      { list_date: '2026-11-19' },
    ])
  })
})

describe('a replacement', () => {
  it('is refused by name, and the list in force stays', async () => {
    const caller = await service.makeCaller()
    const { id, npi } = await enter(caller)
    const rows = [{ NPI: npi, EXCLDATE: '20261101' }]
    await importLeie(caller, rows)
    const good = leieFile([...OTHERS, ...rows])
    const month = Array.from({ length: 30 }, (_, day) => ({
      LASTNAME: `A${day}`,
      FIRSTNAME: 'B',
      EXCLDATE: `202610${day % 9}1`,
    }))
    const cases: [string, Uint8Array, Json][] = [
      ['missing_columns', samFile([{}]), {}],
      ['no_rows', leieFile([]), {}],
      ['unfinished_line', good.subarray(0, -1), {}],
      ['unreadable_csv', Buffer.concat([good, Buffer.from('"one","two"\r\n')]), {}],
      ['fewer_rows', leieFile(OTHERS), { file_name: '2026-11-02.csv' }],
      ['older_list', leieFile([...OTHERS, ...OTHERS]), { file_name: '2026-10-31.csv' }],
      ['supplement_as_full', leieFile(month), {}],
      ['supplement_as_full', leieFile([...OTHERS, ...OTHERS]), { kind: 'full', file_name: '2611excl.csv' }],
      ['date_in_future', good, { file_name: '2027-11-02.csv' }],
      ['unreadable_zip', (await zipOf({ 'a.csv': good })).subarray(0, -10), {}],
    ]
    for (const [code, bytes, query] of cases) {
      expect(await importFile(caller, 'leie', bytes, query), code).toMatchObject({
        status: 'failed',
        failure: { code },
      })
    }
    expect(await get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2026-11-01', rows: 9 })
    expect(await statusOf(caller, id)).toBe('excluded')
    // Only bodies of a file begin an import.
    const empty = await service.call(caller, `${LISTS}/leie/import`, {
      method: 'POST',
      body: '',
      headers: { 'Content-Type': 'text/csv' },
    })
    expect(empty).toMatchObject({ status: 400 })
    expect((await service.entries(caller, 'clinician_order')).map(({ reason }) => reason)).toContain(
      'exclusion_list_refused_fewer_rows',
    )
  })

  it('is forced by an owner and by nobody else, which the audit log has', async () => {
    const caller = await service.makeCaller()
    await importLeie(caller, [{ EXCLDATE: '20261101' }])
    const admin = await service.signIn(caller.accountId, { role: 'admin' })
    const headers = { ...admin.headers, 'Service-Environment': 'sandbox', 'Content-Type': 'text/csv' }
    const refused = await service.call({}, `${LISTS}/leie/import?force=true`, {
      method: 'POST',
      body: leieFile(OTHERS),
      headers,
    })
    expect(refused).toMatchObject({ status: 403, json: { code: 'insufficient_role' } })
    expect(await importFile(caller, 'leie', leieFile(OTHERS), { force: 'true' })).toMatchObject({
      status: 'succeeded',
      rows: 8,
    })
    const entries = await owner(
      `SELECT after FROM audit_entries WHERE account_id = $1 AND action = 'exclusion_list.uploaded' ORDER BY id`,
      [caller.accountId],
    )
    expect(entries.map(({ after }) => (typeof after === 'string' ? JSON.parse(after) : after).force)).toEqual([
      false,
      true,
    ])
  })

  it('of two imports, the later date stays in either order', async () => {
    for (const days of [
      ['18', '19'],
      ['19', '18'],
    ]) {
      const caller = await service.makeCaller()
      const uploads = await Promise.all(
        days.map((day) => upload(caller, 'leie', leieFile(OTHERS), { file_name: `2026-11-${day}.csv` })),
      )
      const taken = await Promise.all(
        (
          await owner(`SELECT id FROM jobs WHERE queue = 'exclusions' AND account_id = $1 AND state = 'queued'`, [
            caller.accountId,
          ])
        ).map(({ id }) => jobs.take(String(id))),
      )
      await Promise.all(taken.map((one) => jobs.run(one, work)))
      // The one that waited too long for the other is tried again.
      await jobs.hurry()
      await jobs.drain(work, caller)
      expect(await get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2026-11-19' })
      const ended = await Promise.all(uploads.map(({ import_id }) => get(caller, `${LISTS}/leie/imports/${import_id}`)))
      expect(ended.every(({ status }) => status === 'succeeded' || status === 'failed')).toBe(true)
    }
  })

  it('by supplements adds exclusions once and ends those that were reinstated', async () => {
    const caller = await service.makeCaller()
    const [excluded, back] = [await enter(caller), await enter(caller)]
    const person = { LASTNAME: 'BACKVEX', FIRSTNAME: 'ROBIN', EXCLDATE: '20180220' }
    const added = leieFile([...OTHERS.slice(0, 2), { NPI: excluded.npi, EXCLDATE: '20261001' }])
    const early = await importFile(caller, 'leie', added, { file_name: '2610excl.csv' })
    expect(early).toMatchObject({ kind: 'excl', status: 'failed', failure: { code: 'no_full_list' } })
    await importLeie(caller, [{ ...person, NPI: back.npi }], { file_name: '2026-09-30.csv' })
    expect(await statusOf(caller, back.id)).toBe('excluded')
    // It is cumulative: two of its rows are in the list already.
    expect(await importFile(caller, 'leie', added, { file_name: '2610excl.csv' })).toMatchObject({
      rows: 10,
      list_date: '2026-10-31',
    })
    const rein = leieFile([{ ...person, NPI: back.npi, REINDATE: '20261015' }])
    expect(await importFile(caller, 'leie', rein, { file_name: '2610rein.csv' })).toMatchObject({
      kind: 'rein',
      rows: 10,
    })
    expect(await statusOf(caller, back.id)).toBe('clear')
    expect(await statusOf(caller, excluded.id)).toBe('excluded')
    const [screening] = await dataOf(caller, SCREENINGS)
    const [change] = await dataOf(caller, `${SCREENINGS}/${screening?.exclusion_screening_id}/changes`)
    expect(change).toMatchObject({ prescriber_id: back.id, status_before: 'excluded', status: 'clear', evidence: [] })
  })
})

describe('a review', () => {
  it('is decided once, holds in later files, and yields to a proof', async () => {
    const caller = await service.makeCaller()
    const { id, npi } = await enter(caller, { last: 'Reviewvex' })
    const row = { LASTNAME: 'REVIEWVEX', FIRSTNAME: 'ROBIN', DOB: '19500101' }
    await importLeie(caller, [row])
    const [{ exclusion_review_id: review } = {}] = await dataOf(caller, REVIEWS)
    const decide = (json: Json) => service.call(caller, `${REVIEWS}/${review}/decision`, { method: 'POST', json })
    expect(await decide({ decision: 'cleared', reason: 'same_person' })).toMatchObject({ status: 400 })
    const cleared = { decision: 'cleared', reason: 'birth_date_differs' }
    const both = await Promise.all([decide(cleared), decide(cleared)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'invalid_state_transition',
      allowed: ['open', 'confirmed'],
    })
    expect(await statusOf(caller, id)).toBe('clear')
    await importLeie(caller, [row, { LASTNAME: 'NEWVEX', FIRSTNAME: 'ROBIN' }])
    expect(await statusOf(caller, id)).toBe('clear')
    expect(await decide({ decision: 'confirmed', reason: 'same_person' })).toMatchObject({
      status: 200,
      json: { status: 'confirmed' },
    })
    expect(await statusOf(caller, id)).toBe('excluded')
    await decide(cleared)
    await importLeie(caller, [row, { NPI: npi }])
    expect(await statusOf(caller, id)).toBe('excluded')
  })
})

describe('the work of the queue', () => {
  it('is a no-op for what has ended, starts anew after a crash, and tells when it is dead', async () => {
    const caller = await service.makeCaller()
    const { id } = await enter(caller)
    const { import_id: done } = await importLeie(caller, [])
    expect(await jobs.runNew(caller, { exclusionImportId: String(done) }, work)).toBe('done')
    const [screening] = await dataOf(caller, SCREENINGS)
    expect(await jobs.runNew(caller, { exclusionScreeningId: String(screening?.exclusion_screening_id) }, work)).toBe(
      'done',
    )

    const { import_id: late } = await upload(caller, 'leie', leieFile([...OTHERS, {}]))
    const [row] = await owner(`SELECT id FROM jobs WHERE payload ->> 'exclusionImportId' = $1`, [late])
    const first = await jobs.take(String(row?.id))
    // Another delivery takes the job over: the first one changes nothing.
    const second = await jobs.take(String(row?.id))
    expect(await jobs.run(first, work)).toBe('stale')
    expect(await get(caller, `${LISTS}/leie`)).toMatchObject({ rows: 8 })
    await jobs.kill(second, work)
    expect(await get(caller, `${LISTS}/leie/imports/${late}`)).toMatchObject({
      status: 'failed',
      failure: { code: 'import_failed' },
    })
    await jobs.redrive(second, work)
    await jobs.drain(work, caller)
    expect(await get(caller, `${LISTS}/leie/imports/${late}`)).toMatchObject({ status: 'succeeded', rows: 9 })
    expect(await statusOf(caller, id)).toBe('clear')
  })

  it('repeats an upload with the same Idempotency-Key once', async () => {
    const caller = await service.makeCaller()
    const headers = { 'Content-Type': 'text/csv', 'Idempotency-Key': 'one' }
    const send = () => service.call(caller, `${LISTS}/leie/import`, { method: 'POST', body: leieFile(OTHERS), headers })
    const [first, second] = [await send(), await send()]
    expect((second.json as Json).import_id).toBe((first.json as Json).import_id)
    expect(second.headers['idempotent-replayed']).toBe('true')
  })
})

it('tells owners and admins by mail, without a name, and writes no name into logs, the audit log and the ledger', async () => {
  const caller = await service.makeCaller()
  const admin = await service.signIn(caller.accountId, { role: 'admin', email: 'admin-exclusions@example.com' })
  const { id } = await enter(caller, { last: 'Secretvexname' })
  await importLeie(caller, [{ LASTNAME: 'SECRETVEXNAME', FIRSTNAME: 'ROBIN', DOB: '19710309' }])
  const [mail] = await owner(
    `SELECT subject_id, recipient FROM mails WHERE account_id = $1 AND kind = 'exclusions_changed'`,
    [caller.accountId],
  )
  expect(mail).toMatchObject({ recipient: 'admin-exclusions@example.com' })
  const letter = await api().writeExclusionsLetter({
    ...{ recipient: String(mail?.recipient), subjectId: String(mail?.subject_id), scope: caller },
  })
  expect(letter?.paragraphs.join(' ')).toContain('1 prescriber is another')
  expect(await statusOf(caller, id)).toBe('excluded')
  expect(admin.userId).toBeTruthy()
  const [audit] = await owner(`SELECT string_agg(t::text, ' ') AS all FROM audit_entries t WHERE account_id = $1`, [
    caller.accountId,
  ])
  const entries = JSON.stringify(await service.entries(caller))
  for (const text of [lines.join('\n'), JSON.stringify(letter), String(audit?.all), entries]) {
    expect(text.toLowerCase()).not.toMatch(/secretvexname|1971-?03-?09/)
  }
})

describe('the operator', () => {
  it('imports lists for accounts without one of their own, which are screened by the clock', async () => {
    const [caller, other] = [await service.makeCaller(), await service.makeCaller()]
    const [without, own] = [await enter(caller), await enter(other)]
    await importLeie(other, [])
    const folder = await mkdtemp(join(tmpdir(), 'list-'))
    const path = join(folder, 'LEIE-2026-11-18.csv')
    await writeFile(path, leieFile([...OTHERS, { NPI: without.npi }, { NPI: own.npi }]))
    const made = await api().operatorImports.importFile(path, { list: 'leie', kind: undefined, isForced: false })
    expect(made).toMatchObject({ status: 'succeeded', rows: 10, listDate: '2026-11-18', requestedBy: 'operator' })
    expect(await statusOf(caller, without.id)).toBe('excluded')
    expect(await get(caller, `${LISTS}/leie`)).toMatchObject({
      source: 'operator',
      import_id: null,
      list_date: '2026-11-18',
    })
    expect(await statusOf(other, own.id)).toBe('clear')
    await writeFile(path, leieFile(OTHERS.slice(1)))
    expect(
      await api().operatorImports.importFile(path, { list: 'leie', kind: undefined, isForced: false }),
    ).toMatchObject({
      ...{ status: 'failed', failureCode: 'fewer_rows' },
    })
    await rm(folder, { recursive: true })
    const task = api().feature.tasks?.find(({ name }) => name === 'exclusion screenings')
    const { signal } = new AbortController()
    await task?.start()(signal)
    await jobs.drain(work)
    const [screening] = await dataOf(caller, SCREENINGS)
    expect(screening).toMatchObject({ cause: 'leie', status: 'succeeded', changed: 1 })
    const mails = await owner(`SELECT recipient FROM mails WHERE subject_id = $1`, [screening?.exclusion_screening_id])
    expect(mails).toEqual([])
  })

  it('names a mirror, which is fetched again only when it has another file', async () => {
    let body = leieFile(OTHERS)
    const server = createServer((request, response) => {
      const tag = `"${body.length}"`
      if (request.headers['if-none-match'] === tag) response.writeHead(304).end()
      else response.writeHead(200, { ETag: tag }).end(body)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/LEIE-2026-11-19.csv`
    const { platform } = service.services
    const fetches: string[] = []
    const outbound = {
      send: async (request: { url: string; headers: Record<string, string> }) => {
        const answer = await fetch(request.url, { headers: request.headers })
        fetches.push(String(answer.status))
        const bytes = Buffer.from(await answer.arrayBuffer())
        return { ok: true, status: answer.status, headers: new Map(answer.headers), body: bytes, isTruncated: false }
      },
    } as never
    const inserted: unknown[] = []
    const exclusions = {
      insertOperators: async (scope: Scope, wanted: object) => {
        inserted.push({ scope, wanted })
        return undefined
      },
    }
    const mirror = createMirror(
      { outbound, store: platform.store, exclusions, log: platform.log },
      { EXCLUSION_LEIE_URL: url, EXCLUSION_SAM_URL: undefined },
    )
    const { signal } = new AbortController()
    await mirror(signal)
    await mirror(signal)
    body = leieFile([...OTHERS, ...OTHERS])
    await mirror(signal)
    server.close()
    expect(fetches).toEqual(['200', '304', '200'])
    expect(inserted).toMatchObject([
      { scope: OPERATOR_SCOPE, wanted: { list: 'leie', fileName: 'LEIE-2026-11-19.csv' } },
      { scope: OPERATOR_SCOPE },
    ])
  })
})
