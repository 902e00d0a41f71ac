// Which files replace a list, and how imports end.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCommand } from '../../../commands/admin/commands.ts'
import { leieFile, samFile, zipOf } from '../../support/exclusion-lists.ts'
import { type ExclusionService, IMPORTS, type Json, LISTS, OTHERS, SCREENINGS, startExclusions } from './service.ts'

let lists: ExclusionService
let mirrored: Buffer
const mirrorAnswers: number[] = []
const mirror = createServer((request, response) => {
  const tag = `"${mirrored.length}"`
  const status = request.headers['if-none-match'] === tag ? 304 : 200
  mirrorAnswers.push(status)
  response.writeHead(status, { ETag: tag }).end(status === 200 ? mirrored : undefined)
})
beforeAll(async () => {
  await new Promise<void>((done) => void mirror.listen(0, '127.0.0.1', done))
  const { port } = mirror.address() as AddressInfo
  lists = await startExclusions({
    OUTBOUND_ALLOW: '127.0.0.1',
    EXCLUSION_LEIE_URL: `http://127.0.0.1:${port}/LEIE-2026-11-19.csv`,
  })
})
afterAll(async () => {
  mirror.close()
  await lists?.close()
})

describe('a replacement', () => {
  it('is refused by name, and the list in force stays', async () => {
    const caller = await lists.service.makeCaller()
    const { id, npi } = await lists.enter(caller)
    const rows = [{ NPI: npi, EXCLDATE: '20261101' }]
    await lists.importLeie(caller, rows)
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
      expect(await lists.importFile(caller, 'leie', bytes, query), code).toMatchObject({
        status: 'failed',
        failure: { code },
      })
    }
    expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2026-11-01', rows: 9 })
    expect(await lists.statusOf(caller, id)).toBe('excluded')
    // Only bodies of a file begin an import.
    const empty = await lists.service.call(caller, `${LISTS}/leie/import`, {
      method: 'POST',
      body: '',
      headers: { 'Content-Type': 'text/csv' },
    })
    expect(empty).toMatchObject({ status: 400 })
    expect((await lists.service.entries(caller, 'clinician_order')).map(({ reason }) => reason)).toContain(
      'exclusion_list_refused_fewer_rows',
    )
  })

  it('is forced by an owner only, which the audit log has', async () => {
    const caller = await lists.service.makeCaller()
    await lists.importLeie(caller, [{ EXCLDATE: '20261101' }])
    const admin = await lists.service.signIn(caller.accountId, { role: 'admin' })
    const headers = { ...admin.headers, 'Service-Environment': 'sandbox', 'Content-Type': 'text/csv' }
    const refused = await lists.service.call({}, `${LISTS}/leie/import?force=true`, {
      method: 'POST',
      body: leieFile(OTHERS),
      headers,
    })
    expect(refused).toMatchObject({ status: 403, json: { code: 'insufficient_role' } })
    expect(await lists.importFile(caller, 'leie', leieFile(OTHERS), { force: 'true' })).toMatchObject({
      status: 'succeeded',
      rows: 8,
    })
    const entries = await lists.owner(
      `SELECT after FROM audit_entries WHERE account_id = $1 AND action = 'exclusion_list.uploaded' ORDER BY id`,
      [caller.accountId],
    )
    expect(entries.map(({ after }) => (typeof after === 'string' ? JSON.parse(after) : after).force)).toEqual([
      false,
      true,
    ])
  })

  /** Runs the jobs of these accounts at once, and those again that waited too long for another. */
  async function runAtOnce(...accounts: { accountId: string }[]): Promise<void> {
    const queued = await lists.owner(
      `SELECT id FROM jobs WHERE queue = 'exclusions' AND account_id = ANY($1) AND state = 'queued'`,
      [accounts.map(({ accountId }) => accountId)],
    )
    const taken = await Promise.all(queued.map(({ id }) => lists.jobs.take(String(id))))
    await Promise.all(taken.map((one) => lists.jobs.run(one, lists.work)))
    await lists.jobs.hurry()
    await lists.jobs.drain(lists.work)
  }

  it('of two imports, the later date stays, whichever is committed first', async () => {
    for (let round = 0; round < 4; round += 1) {
      const caller = await lists.service.makeCaller()
      for (const day of round % 2 === 0 ? ['18', '19'] : ['19', '18']) {
        const more = Array.from({ length: 100 }, (_, index) => ({
          LASTNAME: `R${round}D${day}${index}`,
          FIRSTNAME: 'A',
        }))
        await lists.upload(caller, 'leie', leieFile([...OTHERS, ...more]), { file_name: `2026-11-${day}.csv` })
      }
      await runAtOnce(caller)
      expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2026-11-19' })
      const imports = await lists.dataOf(caller, IMPORTS)
      expect(imports.every(({ status }) => status === 'succeeded' || status === 'failed')).toBe(true)
    }
  })

  it('that two accounts import at once is stored once and is in force for both', async () => {
    const callers = [await lists.service.makeCaller(), await lists.service.makeCaller()]
    const bytes = leieFile([...OTHERS, { LASTNAME: 'TWOACCOUNTS', FIRSTNAME: 'A' }])
    for (const caller of callers) await lists.upload(caller, 'leie', bytes)
    await runAtOnce(...callers)
    for (const caller of callers) expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ rows: 9 })
    const [{ sha256 } = {}] = await lists.dataOf(callers[0] as never, IMPORTS)
    expect(await lists.owner(`SELECT FROM exclusion_files WHERE sha256 = decode($1, 'hex')`, [sha256])).toHaveLength(1)
  })

  it('by supplements adds exclusions once and ends those that were reinstated', async () => {
    const caller = await lists.service.makeCaller()
    const [excluded, back] = [await lists.enter(caller), await lists.enter(caller)]
    const person = { LASTNAME: 'BACKVEX', FIRSTNAME: 'ROBIN', EXCLDATE: '20180220' }
    const added = leieFile([...OTHERS.slice(0, 2), { NPI: excluded.npi, EXCLDATE: '20261001' }])
    const early = await lists.importFile(caller, 'leie', added, { file_name: '2610excl.csv' })
    expect(early).toMatchObject({ kind: 'excl', status: 'failed', failure: { code: 'no_full_list' } })
    await lists.importLeie(caller, [{ ...person, NPI: back.npi }], { file_name: '2026-09-30.csv' })
    expect(await lists.statusOf(caller, back.id)).toBe('excluded')
    // It is cumulative: two of its rows are in the list already.
    expect(await lists.importFile(caller, 'leie', added, { file_name: '2610excl.csv' })).toMatchObject({
      rows: 10,
      list_date: '2026-10-31',
    })
    const rein = leieFile([{ ...person, NPI: back.npi, REINDATE: '20261015' }])
    expect(await lists.importFile(caller, 'leie', rein, { file_name: '2610rein.csv' })).toMatchObject({
      kind: 'rein',
      rows: 10,
    })
    expect(await lists.statusOf(caller, back.id)).toBe('clear')
    expect(await lists.statusOf(caller, excluded.id)).toBe('excluded')
    const [screening] = await lists.dataOf(caller, SCREENINGS)
    const [change] = await lists.dataOf(caller, `${SCREENINGS}/${screening?.exclusion_screening_id}/changes`)
    expect(change).toMatchObject({ prescriber_id: back.id, status_before: 'excluded', status: 'clear', evidence: [] })
  })
})

describe('the work of the queue', () => {
  it('is a no-op for what has ended, starts anew after a crash, and tells when it is dead', async () => {
    const caller = await lists.service.makeCaller()
    const { id } = await lists.enter(caller)
    const { exclusion_import_id: done } = await lists.importLeie(caller, [])
    expect(await lists.jobs.runNew(caller, { exclusionImportId: String(done) }, lists.work)).toBe('done')
    const [screening] = await lists.dataOf(caller, SCREENINGS)
    expect(
      await lists.jobs.runNew(caller, { exclusionScreeningId: String(screening?.exclusion_screening_id) }, lists.work),
    ).toBe('done')

    const { exclusion_import_id: late } = await lists.upload(caller, 'leie', leieFile([...OTHERS, {}]))
    const [row] = await lists.owner(`SELECT id FROM jobs WHERE payload ->> 'exclusionImportId' = $1`, [late])
    const first = await lists.jobs.take(String(row?.id))
    // Another delivery takes the job over: the first one changes nothing.
    const second = await lists.jobs.take(String(row?.id))
    expect(await lists.jobs.run(first, lists.work)).toBe('stale')
    expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ rows: 8 })
    await lists.jobs.kill(second, lists.work)
    expect(await lists.get(caller, `${IMPORTS}/${late}`)).toMatchObject({
      status: 'failed',
      failure: { code: 'import_failed' },
    })
    await lists.jobs.redrive(second, lists.work)
    await lists.jobs.drain(lists.work, caller)
    expect(await lists.get(caller, `${IMPORTS}/${late}`)).toMatchObject({ status: 'succeeded', rows: 9 })
    expect(await lists.statusOf(caller, id)).toBe('clear')
  })

  it('repeats an upload with the same Idempotency-Key once', async () => {
    const caller = await lists.service.makeCaller()
    const headers = { 'Content-Type': 'text/csv', 'Idempotency-Key': 'one' }
    const send = () =>
      lists.service.call(caller, `${LISTS}/leie/import`, { method: 'POST', body: leieFile(OTHERS), headers })
    const [first, second] = [await send(), await send()]
    expect((second.json as Json).exclusion_import_id).toBe((first.json as Json).exclusion_import_id)
    expect(second.headers['idempotent-replayed']).toBe('true')
  })
})

describe('the operator', () => {
  const logged: object[] = []
  const admin = async (...words: string[]) =>
    readCommand(words)?.act({
      services: lists.service.services,
      confirm: async () => {},
      say: () => {},
      log: (act, fields) => void logged.push({ act, ...fields }),
    })

  it('imports lists for accounts without one of their own, which are screened by the clock', async () => {
    const [caller, other] = [await lists.service.makeCaller(), await lists.service.makeCaller()]
    const [without, own] = [await lists.enter(caller), await lists.enter(other)]
    await lists.importLeie(other, [])
    const folder = await mkdtemp(join(tmpdir(), 'list-'))
    const path = join(folder, 'LEIE-2026-11-18.csv')
    await writeFile(path, leieFile([...OTHERS, { NPI: without.npi }, { NPI: own.npi }]))
    expect(await admin('exclusion-list', 'import', path, '--list', 'leie')).toMatchObject({
      ...{ list: 'leie', rows: 10, listDate: '2026-11-18' },
    })
    expect(logged).toMatchObject([{ act: 'exclusion-list import', list: 'leie', failed: null }])
    expect(await lists.statusOf(caller, without.id)).toBe('excluded')
    expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({
      source: 'operator',
      exclusion_import_id: null,
      list_date: '2026-11-18',
    })
    expect(await lists.statusOf(other, own.id)).toBe('clear')
    await writeFile(path, leieFile(OTHERS.slice(1)))
    await expect(admin('exclusion-list', 'import', path, '--list', 'leie')).rejects.toThrow('fewer_rows')
    expect(() => readCommand(['exclusion-list', 'import', path, '--list', 'oig'])).toThrow('leie, sam')
    await expect(admin('exclusion-list', 'import', `${path}x`, '--list', 'leie')).rejects.toThrow('no file')
    await rm(folder, { recursive: true })
    const task = lists.feature.feature.tasks?.find(({ name }) => name === 'exclusion screenings')
    const { signal } = new AbortController()
    await task?.start()(signal)
    await lists.jobs.drain(lists.work)
    const [screening] = await lists.dataOf(caller, SCREENINGS)
    expect(screening).toMatchObject({ cause: 'leie', status: 'succeeded', changed: 1 })
    const mails = await lists.owner(`SELECT recipient FROM mails WHERE subject_id = $1`, [
      screening?.exclusion_screening_id,
    ])
    expect(mails).toEqual([])
  })

  it('names a mirror, whose list is imported once, and again when it has another file', async () => {
    const caller = await lists.service.makeCaller()
    const fetchLists = lists.feature.feature.tasks?.find(({ name }) => name === 'exclusion mirror')?.start()
    const { signal } = new AbortController()
    const rowsAfter = async (rows: number) => {
      mirrored = leieFile(Array.from({ length: rows }, (_, index) => ({ ...OTHERS[0], LASTNAME: `MIRRORED${index}` })))
      await fetchLists?.(signal)
      await lists.jobs.drain(lists.work)
      return lists.get(caller, `${LISTS}/leie`)
    }
    expect(await rowsAfter(11)).toMatchObject({ source: 'operator', rows: 11, list_date: '2026-11-19' })
    expect(await rowsAfter(11)).toMatchObject({ rows: 11 })
    expect(await rowsAfter(12)).toMatchObject({ rows: 12 })
    // What was refused is not tried again.
    expect(await rowsAfter(3)).toMatchObject({ rows: 12 })
    expect(mirrorAnswers).toEqual([200, 304, 200, 200])
    const imports = await lists.owner(
      `SELECT status FROM exclusion_imports WHERE account_id = 'acc_service' AND file_name = 'LEIE-2026-11-19.csv'`,
    )
    expect(imports.map(({ status }) => status).sort()).toEqual(['failed', 'succeeded', 'succeeded'])
  })
})
