// What exclusion lists say of prescribers, from the upload to the mail.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExclusionService, type Json, LISTS, REVIEWS, SCREENINGS, startExclusions } from './service.ts'

let lists: ExclusionService
beforeAll(async () => {
  lists = await startExclusions()
})
afterAll(() => lists?.close())

describe('a list', () => {
  it('excludes by NPI and by name and birth date, and asks for a review by the name alone', async () => {
    const caller = await lists.service.makeCaller()
    const [byNpi, byName, shared, clear] = [
      await lists.enter(caller),
      await lists.enter(caller, { first: 'José', last: 'O’Brien-Vex' }),
      await lists.enter(caller, { last: 'Sharedvex' }),
      await lists.enter(caller, { last: 'Clearvex', dob: null }),
    ]
    expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: null, source: null, is_stale: true })
    expect(await lists.check(caller, clear.id)).toEqual({ status: 'clear', evidence: [], stale: ['leie', 'sam'] })
    const made = await lists.importLeie(
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
    const state = await lists.get(caller, `${LISTS}/leie`)
    expect(state).toMatchObject({ list_date: '2026-11-01', rows: 13, source: 'account', is_stale: false })
    expect(await lists.check(caller, byNpi.id)).toMatchObject({
      status: 'excluded',
      evidence: [
        { list: 'leie', list_date: '2026-11-01', matched_on: 'npi', row_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      stale: ['sam'],
    })
    expect(await lists.check(caller, byName.id)).toMatchObject({
      status: 'excluded',
      evidence: [{ matched_on: 'name_birth_date' }],
    })
    expect(await lists.check(caller, shared.id)).toMatchObject({ status: 'review', evidence: [{ matched_on: 'name' }] })
    expect(await lists.statusOf(caller, clear.id)).toBe('clear')

    // The screening after the import lists what changed, opens the review and tells owners and admins.
    const [screening] = await lists.dataOf(caller, SCREENINGS)
    expect(screening).toMatchObject({ cause: 'leie', status: 'succeeded', screened: 4, changed: 3 })
    const changes = await lists.dataOf(caller, `${SCREENINGS}/${screening?.exclusion_screening_id}/changes`)
    expect(
      Object.fromEntries(changes.map(({ prescriber_id: id, status_before, status }) => [id, [status_before, status]])),
    ).toEqual({
      [byNpi.id]: ['clear', 'excluded'],
      [byName.id]: ['clear', 'excluded'],
      [shared.id]: ['clear', 'review'],
    })
    expect(await lists.dataOf(caller, `${REVIEWS}?status=open`)).toMatchObject([
      { prescriber_id: shared.id, matched_on: 'name' },
    ])
    // Nothing changed: no second list of changes.
    await lists.importLeie(caller, [{ LASTNAME: 'SHAREDVEX', FIRSTNAME: 'ROBIN', DOB: '' }], { force: 'true' })
    expect(await lists.dataOf(caller, SCREENINGS)).toMatchObject([{ changed: 2 }, { changed: 3 }])
  })

  it('of SAM asks for a review by name and state, of people alone, and excludes by NPI', async () => {
    const caller = await lists.service.makeCaller()
    const [here, elsewhere, byNpi, other] = [
      await lists.enter(caller),
      await lists.enter(caller, { last: 'Farvex' }),
      await lists.enter(caller, { last: 'Numbervex' }),
      await lists.enter(caller, { last: 'Notselfvex' }),
    ]
    const note = { 'Additional Comments': 'The entity is\r\nnot itself excluded, "see", file' }
    const made = await lists.importSam(caller, [
      { First: 'ROBIN', Last: 'QUORVEX', 'Excluding Agency': 'HHS' },
      { First: 'ROBIN', Last: 'QUORVEX', 'Excluding Agency': 'OPM' },
      { First: 'ROBIN', Last: 'FARVEX', 'State / Province': 'CA' },
      { Classification: '', NPI: byNpi.npi },
      { First: 'ROBIN', Last: 'NOTSELFVEX', NPI: other.npi, ...note },
      { First: 'ROBIN', Last: 'NOTSELFVEX', NPI: other.npi, 'Termination Date': '11/19/2026' },
    ])
    expect(made).toMatchObject({ status: 'succeeded', rows: 7, list_date: '2026-11-20' })
    expect((await lists.check(caller, here.id))?.evidence).toHaveLength(2)
    expect(await lists.statusOf(caller, here.id)).toBe('review')
    expect(await lists.statusOf(caller, elsewhere.id)).toBe('clear')
    expect(await lists.statusOf(caller, byNpi.id)).toBe('excluded')
    expect(await lists.statusOf(caller, other.id)).toBe('clear')
    const late = new Date('2026-11-28T12:00:00Z')
    expect((await lists.check(caller, here.id, { at: late }))?.stale).toEqual(['leie', 'sam'])
  })

  it('counts a waiver in the state of the order, a reinstatement, and an exclusion from its first day on', async () => {
    const caller = await lists.service.makeCaller()
    const [waived, back, future] = [await lists.enter(caller), await lists.enter(caller), await lists.enter(caller)]
    await lists.importLeie(caller, [
      { NPI: waived.npi, WVRSTATE: 'NM', WAIVERDATE: '20200101' },
      { NPI: back.npi, REINDATE: '20200101' },
      { NPI: future.npi, EXCLDATE: '20261210' },
    ])
    expect(await lists.statusOf(caller, waived.id, { state: 'NM' })).toBe('clear')
    expect(await lists.statusOf(caller, waived.id, { state: 'NV' })).toBe('excluded')
    expect(await lists.statusOf(caller, back.id)).toBe('clear')
    expect(await lists.statusOf(caller, future.id)).toBe('review')
    expect(await lists.statusOf(caller, future.id, { at: new Date('2026-12-10T00:00:00Z') })).toBe('excluded')
    expect(await lists.get(caller, `${LISTS}/leie`)).toMatchObject({ list_date: '2020-01-01' })
  })

  it('of one account changes no other answer, and the same file is stored once', async () => {
    const [caller, stranger] = [await lists.service.makeCaller(), await lists.service.makeCaller()]
    const [own, other] = [await lists.enter(caller), await lists.enter(stranger)]
    const rows = [{ NPI: own.npi }, { NPI: other.npi }]
    await lists.importLeie(caller, rows)
    expect(await lists.statusOf(caller, own.id)).toBe('excluded')
    expect(await lists.check(stranger, other.id)).toEqual({ status: 'clear', evidence: [], stale: ['leie', 'sam'] })
    expect(await lists.get(stranger, `${LISTS}/leie`)).toMatchObject({ list_date: null })
    const [{ count: before } = {}] = await lists.owner('SELECT count(*) FROM exclusion_files')
    // Another date in the name is the other account's own.
    await lists.importLeie(stranger, rows, { file_name: '2026-11-19.csv' })
    expect(await lists.owner('SELECT count(*) FROM exclusion_files')).toEqual([{ count: before }])
    expect(await lists.statusOf(stranger, other.id)).toBe('excluded')
    expect([await lists.get(caller, `${LISTS}/leie`), await lists.get(stranger, `${LISTS}/leie`)]).toMatchObject([
      { list_date: '2018-02-20' },
      { list_date: '2026-11-19' },
    ])
  })
})

describe('a review', () => {
  it('is decided once, holds in later files, and yields to a proof', async () => {
    const caller = await lists.service.makeCaller()
    const { id, npi } = await lists.enter(caller, { last: 'Reviewvex' })
    const row = { LASTNAME: 'REVIEWVEX', FIRSTNAME: 'ROBIN', DOB: '19500101' }
    await lists.importLeie(caller, [row])
    const [{ exclusion_review_id: review } = {}] = await lists.dataOf(caller, REVIEWS)
    const decide = (json: Json) => lists.service.call(caller, `${REVIEWS}/${review}/decision`, { method: 'POST', json })
    expect(await decide({ decision: 'cleared', reason: 'same_person' })).toMatchObject({ status: 400 })
    const cleared = { decision: 'cleared', reason: 'birth_date_differs' }
    const both = await Promise.all([decide(cleared), decide(cleared)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'invalid_state_transition',
      allowed: ['open', 'confirmed'],
    })
    expect(await lists.statusOf(caller, id)).toBe('clear')
    await lists.importLeie(caller, [row, { LASTNAME: 'NEWVEX', FIRSTNAME: 'ROBIN' }])
    expect(await lists.statusOf(caller, id)).toBe('clear')
    expect(await decide({ decision: 'confirmed', reason: 'same_person' })).toMatchObject({
      status: 200,
      json: { status: 'confirmed' },
    })
    expect(await lists.statusOf(caller, id)).toBe('excluded')
    await decide(cleared)
    await lists.importLeie(caller, [row, { NPI: npi }])
    expect(await lists.statusOf(caller, id)).toBe('excluded')
  })
})

it('tells owners and admins by mail, without a name, and writes no name into logs, the audit log and the ledger', async () => {
  const caller = await lists.service.makeCaller()
  const admin = await lists.service.signIn(caller.accountId, { role: 'admin', email: 'admin-exclusions@example.com' })
  const { id } = await lists.enter(caller, { last: 'Secretvexname' })
  await lists.importLeie(caller, [{ LASTNAME: 'SECRETVEXNAME', FIRSTNAME: 'ROBIN', DOB: '19710309' }])
  const [mail] = await lists.owner(
    `SELECT subject_id, recipient FROM mails WHERE account_id = $1 AND kind = 'exclusions_changed'`,
    [caller.accountId],
  )
  expect(mail).toMatchObject({ recipient: 'admin-exclusions@example.com' })
  const letter = await lists.feature.writeExclusionsLetter({
    ...{ recipient: String(mail?.recipient), subjectId: String(mail?.subject_id), scope: caller },
  })
  expect(letter?.paragraphs.join(' ')).toContain('1 prescriber is another')
  expect(await lists.statusOf(caller, id)).toBe('excluded')
  expect(admin.userId).toBeTruthy()
  const [audit] = await lists.owner(
    `SELECT string_agg(t::text, ' ') AS all FROM audit_entries t WHERE account_id = $1`,
    [caller.accountId],
  )
  const entries = JSON.stringify(await lists.service.entries(caller))
  for (const text of [lists.lines.join('\n'), JSON.stringify(letter), String(audit?.all), entries]) {
    expect(text.toLowerCase()).not.toMatch(/secretvexname|1971-?03-?09/)
  }
})
