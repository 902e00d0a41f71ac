import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createKeys } from '#src/account/keys/keys.ts'
import { readOptions } from '../../commands/submit/options.ts'
import { drawPicture } from '../attest/duplicates/pictures.ts'
import { type System, startSystem } from '../support/system.ts'
import { createMaker, type Maker } from './captures.ts'
import { type Ended, makeFolder, readRecords, readRows, start } from './submission.ts'

let system: System
let maker: Maker
let work: ReturnType<typeof makeFolder>
let folder: string
let out: string
/** Without `verify` the command waits for no comparison of photos, which takes longer than all the rest. */
let attestKey: string

beforeAll(async () => {
  system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest', 'compare'] })
  maker = await createMaker(system)
  const { create } = createKeys({ db: system.database.db })
  attestKey = (await create(system.scope, { name: 'attest', scopes: ['attest'] })).key
})

afterAll(() => system.close())

beforeEach(() => {
  work = makeFolder()
  folder = join(work.path, 'Schäden 2026')
  out = join(work.path, 'out')
  mkdirSync(folder)
})

afterEach(() => work.remove())

function submit(...args: string[]): Promise<Ended> {
  return start([...args, '--url', system.baseUrl, '--out', out], attestKey).ended
}

function submitAndCompare(...args: string[]): Promise<Ended> {
  return start([...args, '--url', system.baseUrl, '--out', out], system.key).ended
}

/** Claims of this test alone: each test file starts at another number. */
async function claimsNamed(start: string): Promise<number> {
  const rows = await system.database.owner<{ count: number }>(
    'SELECT count(DISTINCT claim_id)::int AS count FROM attestations WHERE external_id LIKE $1',
    [`${start}%`],
  )
  return rows[0]?.count ?? 0
}

/** The contents of each row, in the order of the input. */
function told(...columns: string[]): string[] {
  return readRows(out).map((row) => columns.map((column) => row[column]).join(' | '))
}

test('the command submits a folder of any depth, and reports the result of each capture', async () => {
  maker.write(folder, 'b/größe 1', 100)
  maker.write(folder, 'a 1', 101, { external_id: 'mine-1', claim: { reference: 'CLM-7', line: 'auto' } })
  const inside = maker.photo(102)
  const inlined = { ...maker.body(inside), media: { content_type: 'image/jpeg', data: inside.toString('base64') } }
  writeFileSync(join(folder, 'c.json'), JSON.stringify(inlined, null, 2))
  writeFileSync(join(folder, 'notes.txt'), 'left out')
  writeFileSync(join(folder, 'settings.json'), '{"theme":"dark"}')

  const { code, stdout, stderr } = await submit(folder, '--json')

  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('2 files are neither') })
  const summary = JSON.parse(stdout)
  expect(summary).toMatchObject({ captures: 3, review: 3, rejected: 0, pending: 0, exit_code: 0 })
  expect(summary.factors).toEqual({ hardware_backing_absent: 3, c2pa_absent: 3 })
  expect(told('file', 'status', 'provenance_status', 'risk_status', 'risk_score', 'factors')).toEqual(
    ['a 1.jpg', 'b/größe 1.jpg', 'c.json'].map(
      (file) => `${file} | succeeded | verified | review | 40 | hardware_backing_absent +40`,
    ),
  )
  expect(readRows(out)[0]?.external_id).toBe('mine-1')
  expect(readRecords(out).map(({ result }) => result?.attestation_id)).toEqual(
    readRows(out).map(({ attestation_id }) => attestation_id),
  )
  const again = await start([folder, '--url', system.baseUrl, '--out', join(work.path, 'other')], attestKey).ended
  expect(again.code).toBe(0)
  expect(readRows(join(work.path, 'other')).map((row) => row.claim_id)).toEqual(
    readRows(out).map((row) => row.claim_id),
  )
  expect(await claimsNamed('b/größe 1.jpg#')).toBe(1)
})

test('the command submits the files of a table, with commas, semicolons or tabs', async () => {
  for (const [index, mark] of [',', ';', '\t'].entries()) {
    maker.write(folder, `photos/${index}`, 200 + index)
    const table = join(folder, `table ${index}.csv`)
    const rows = [
      ['File', 'External ID', 'reference', 'loss_lat', 'loss_lng', 'loss_at', 'line', 'Note'],
      [`photos/${index}.jpg`, `t-${index}`, `=1+1`, '52.51', '-13.3', '2026-11-20T10:00:00Z', 'auto', '"two\nlines"'],
    ]
    writeFileSync(table, `\uFEFF${rows.map((cells) => cells.join(mark)).join('\r\n')}\r\n`)
    const { code, stderr } = await submit('--manifest', table, '--quiet')
    expect({ code, stderr, told: told('source', 'external_id', 'risk_score') }).toEqual({
      code: 0,
      stderr: '',
      told: [`table ${index}.csv:2 | t-${index} | 40`],
    })
  }
  const claims = await system.database.owner(
    'SELECT DISTINCT loss_lat, loss_lng, line FROM claims WHERE reference = $1',
    ['=1+1'],
  )
  expect(claims).toEqual([{ loss_lat: 52.51, loss_lng: -13.3, line: 'auto' }])
})

test('the command submits NDJSON, reports each invalid line and submits the others', async () => {
  const photos = join(work.path, 'photos')
  maker.write(photos, 'x', 300)
  maker.write(photos, 'y', 301)
  const body = (index: number) => maker.body(maker.photo(index))
  const lines = [
    JSON.stringify({ ...body(300), media: { file: 'x.jpg' } }),
    '{"media": {"file": "x.jpg"',
    JSON.stringify({ ...body(300), media: { file: '../Schäden 2026/away.jpg' } }),
    JSON.stringify({ ...body(301), media: { file: 'y.jpg' }, colour: 'red' }),
    JSON.stringify({ ...body(301), media: { file: 'gone.jpg' } }),
    '{"media": {"file": "x.jpg"}, "media": {"file": "y.jpg"}}',
    JSON.stringify({ ...body(301), media: { media_id: 'med_test_00000000000000000000000000' } }),
    JSON.stringify({ ...body(301), media: { file: 'y.jpg' } }),
  ]
  writeFileSync(join(folder, 'away.jpg'), maker.photo(302))
  const manifest = join(folder, 'lines.ndjson')
  writeFileSync(manifest, lines.join('\n'))

  const { code, stdout, stderr } = await submit(photos, '--manifest', manifest)

  expect(code).toBe(1)
  expect(stdout).toContain('rejected')
  expect(stderr).toContain('lines.ndjson:2')
  expect(told('source', 'status', 'error_code', 'error_pointer')).toEqual([
    'lines.ndjson:1 | succeeded |  | ',
    'lines.ndjson:2 | rejected | malformed | /media',
    'lines.ndjson:3 | rejected | outside | /media/file',
    'lines.ndjson:4 | rejected | unknown_field | /colour',
    'lines.ndjson:5 | rejected | not_found | /media/file',
    'lines.ndjson:6 | rejected | duplicate_key | /media',
    'lines.ndjson:7 | rejected | not_found | /media/media_id',
    'lines.ndjson:8 | succeeded |  | ',
  ])
})

test('the command reports an invalid file by its name and field, and submits the others', async () => {
  maker.write(folder, 'good', 400)
  writeFileSync(join(folder, 'empty.jpg'), '')
  writeFileSync(join(folder, 'empty.json'), JSON.stringify(maker.body(maker.photo(401))))
  writeFileSync(join(folder, 'huge.jpg'), maker.photo(402))
  truncateSync(join(folder, 'huge.jpg'), 100_000_001)
  writeFileSync(join(folder, 'huge.json'), JSON.stringify(maker.body(maker.photo(402))))
  writeFileSync(join(folder, 'alone.jpg'), maker.photo(403))
  writeFileSync(join(folder, 'orphan.json'), JSON.stringify(maker.body(maker.photo(404))))
  writeFileSync(join(folder, 'text.jpg'), 'no photo')
  writeFileSync(join(folder, 'text.json'), JSON.stringify(maker.body(maker.photo(405))))
  maker.write(folder, 'wrong', 406, { claim: { loss_at: 'yesterday' } })
  maker.write(folder, 'two', 407)
  writeFileSync(join(folder, 'two.png'), maker.photo(408))
  mkdirSync(join(work.path, 'outside'))
  maker.write(join(work.path, 'outside'), 'secret', 409)
  symlinkSync(join(work.path, 'outside', 'secret.jpg'), join(folder, 'link.jpg'))
  symlinkSync(join(work.path, 'outside'), join(folder, 'linked'))
  symlinkSync('nowhere.jpg', join(folder, 'dangling.jpg'))
  symlinkSync('loop.jpg', join(folder, 'loop.jpg'))
  symlinkSync(folder, join(folder, 'self'))

  const wrong = [
    'alone.jpg | /bundle | unsigned',
    'dangling.jpg |  | not_found',
    'empty.jpg | /media | empty_file',
    'huge.jpg | /media | too_large',
    'link.jpg |  | outside',
    'linked |  | outside',
    'loop.jpg |  | unreadable',
    'orphan.json | /media | required',
    'text.jpg | /media | not_a_photo',
    'two.jpg |  | ambiguous',
    'two.png |  | ambiguous',
    'wrong.jpg | /claim/loss_at | invalid_format',
  ]
  const checked = await start([folder, '--check', '--out', out], undefined).ended
  expect(checked.code).toBe(1)
  expect(checked.stdout).toContain('wrong.jpg: /claim/loss_at: ')
  for (const line of wrong) expect(checked.stdout).toContain(`[${line.split(' | ').at(-1)}]`)

  expect((await submit(folder)).code).toBe(1)
  const refused = readRows(out).filter(({ status }) => status === 'rejected')
  expect(refused.map((row) => `${row.source} | ${row.error_pointer} | ${row.error_code}`)).toEqual(wrong)
  expect(readRows(out).find(({ file }) => file === 'good.jpg')).toMatchObject({ status: 'succeeded', risk_score: '40' })

  const unsigned = await submit(join(folder), '--allow-unsigned')
  expect(unsigned.code).toBe(1)
  expect(readRows(out).find(({ file }) => file === 'alone.jpg')).toMatchObject({
    provenance_status: 'unattested',
    factors: 'no_manifest +60',
  })
})

test('the command reports only the errors of a row, also when its JSON contains the photo', async () => {
  const photo = Buffer.concat([maker.photo(450), Buffer.alloc(100_000)])
  const media = { content_type: 'image/jpeg', data: photo.toString('base64') }
  writeFileSync(join(folder, 'x.jpg'), photo)
  writeFileSync(join(folder, 'x.json'), JSON.stringify({ ...maker.body(photo), media }))
  writeFileSync(join(folder, 'y.jpg'), maker.photo(451))
  writeFileSync(join(folder, 'y.json'), JSON.stringify({ ...maker.body(photo), media }))
  const table = join(folder, 'table.csv')
  writeFileSync(table, 'file,loss_lat,loss_lng\nx.jpg,"52,5",13\nx.jpg,52.5,13\ny.jpg,,\n')
  expect((await submit('--manifest', table)).code).toBe(1)
  expect(told('status', 'error_code', 'error_pointer')).toEqual([
    'rejected | invalid_number | loss_lat',
    'succeeded |  | ',
    'rejected | photo_differs | /media/data',
  ])
})

test('the command streams photos that are too large for memory', async () => {
  const photo = Buffer.concat([maker.photo(500), Buffer.alloc(9 * 1024 * 1024)])
  writeFileSync(join(folder, 'large.jpg'), photo)
  writeFileSync(join(folder, 'large.json'), JSON.stringify(maker.body(photo)))
  expect((await submit(folder)).code).toBe(0)
  expect(told('provenance_status', 'risk_score')).toEqual(['verified | 40'])
})

test('the command writes no formulas into the table, and odd names into one cell', async () => {
  const names = ['=HYPERLINK("x")', '+1', '-1', '@sum', 'a,"b"']
  for (const [index, name] of names.entries()) maker.write(folder, name, 600 + index)
  expect((await submit(folder)).code).toBe(0)
  const files = readRows(out).map(({ file }) => file)
  expect(files.toSorted()).toEqual(["'+1.jpg", "'-1.jpg", '\'=HYPERLINK("x").jpg', "'@sum.jpg", 'a,"b".jpg'])
  expect(readFileSync(join(out, 'results.csv'), 'utf8')).toContain(`\n"'=HYPERLINK(""x"").jpg"`)
})

test('the command ends with 4 when a status counts as failure', async () => {
  maker.write(folder, 'one', 700)
  expect((await submit(folder, '--fail-on', 'failed')).code).toBe(0)
  expect((await submit(folder, '--fail-on', 'review')).code).toBe(4)
})

test('the command stops at once with 3 when the key is invalid, and sends nothing', async () => {
  maker.write(folder, 'one', 800)
  const verify = await createKeys({ db: system.database.db }).create(system.scope, { name: 'v', scopes: ['verify'] })
  const keys = { svc_test_000000000000000000000000000000ab: 'invalid_api_key', [verify.key]: 'insufficient_scope' }
  for (const [key, code] of Object.entries(keys)) {
    const ended = await start([folder, '--url', system.baseUrl, '--out', out], key).ended
    expect({ code: ended.code, says: ended.stderr.includes(code) }).toEqual({ code: 3, says: true })
    expect(ended.stderr).not.toContain(key)
  }
  expect(await claimsNamed('one.jpg#')).toBe(1)
})

test('the command names invalid arguments, and where to find help', async () => {
  const file = join(work.path, 'plain.txt')
  writeFileSync(file, 'x')
  writeFileSync(join(folder, 'table.csv'), 'photo,reference\na.jpg,1\n')
  const wrong = [
    [],
    [join(folder, 'nowhere')],
    [file],
    ['--manifest', folder],
    [folder, '--fail-on', 'passed'],
    [folder, '--batch', '10001'],
    [folder, '--url', 'ftp://x'],
    [folder, '--key', 'a', '--key-file', file],
  ]
  for (const args of wrong) {
    expect(() => readOptions(args, { COUNTERSIGN_KEY: 'k' }), String(args)).toThrow(
      expect.objectContaining({ code: 'ERR_USAGE' }),
    )
  }
  expect(() => readOptions([folder], {})).toThrow('COUNTERSIGN_KEY')
  for (const args of [[folder], ['--bogus'], ['--manifest', join(folder, 'table.csv')]]) {
    const { code, stdout, stderr } = await submit(...args)
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toContain('--help')
  }
  expect((await start(['--help'], undefined).ended).stdout).toContain('--manifest')
})

test('the command lists the duplicates of each capture, also of two of the same folder', async () => {
  const [photo, other] = [await drawPicture(500), await drawPicture(501)]
  const put = (directory: string, name: string, picture: Buffer, more: object = {}) => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, `${name}.jpg`), picture)
    writeFileSync(join(directory, `${name}.json`), JSON.stringify({ ...maker.body(picture), ...more }))
  }
  put(folder, 'first', photo)
  put(folder, 'other', other)
  expect((await submitAndCompare(folder)).code).toBe(0)
  expect(readRows(out).map(({ duplicates }) => duplicates)).toEqual(['', ''])
  const [first] = readRows(out)
  const next = join(work.path, 'next')
  put(next, 'again', photo, { claim: { reference: 'again' } })
  put(next, 'twice', photo, { claim: { reference: 'twice' } })
  const { code, stdout } = await submitAndCompare(next, '--json', '--state', join(work.path, 'state.ndjson'))
  expect([code, JSON.parse(stdout).duplicates]).toEqual([0, 2])
  const rows = readRows(out)
  const [again, twice] = rows.map(({ claim_id: claim }) => claim)
  const same = (...claims: (string | undefined)[]) => claims.map((claim) => `duplicate_media ${claim} 0`).join('; ')
  expect(rows.map(({ duplicates }) => duplicates?.split('; ').sort().join('; '))).toEqual(
    [
      [first?.claim_id, twice],
      [first?.claim_id, again],
    ].map((claims) => same(...claims.sort())),
  )
  const [record] = readRecords(out)
  const earlier = {
    claim_id: first?.claim_id,
    attestation_id: first?.attestation_id,
    media_id: expect.any(String),
    kind: 'duplicate_media',
    distance_bits: 0,
  }
  expect(record).toMatchObject({ duplicates: { not_comparable: null, earlier: expect.arrayContaining([earlier]) } })
  // From the journal, without asking again.
  expect((await submitAndCompare(next, '--state', join(work.path, 'state.ndjson'))).code).toBe(0)
  expect(readRows(out)).toEqual(rows)
})

test('the command says so when its key may not read duplicates, and lists the rest', async () => {
  maker.write(folder, 'one', 510)
  const { code, stderr } = await submit(folder)
  expect([code, readRows(out).map(({ status, duplicates }) => [status, duplicates])]).toEqual([0, [['succeeded', '']]])
  expect(stderr).toContain('the scope verify')
})

test('two captures with one external_id fail the check, which names both files', async () => {
  maker.write(folder, 'first', 520, { external_id: 'mine' })
  maker.write(folder, 'second', 521, { external_id: 'mine' })
  maker.write(folder, 'third', 522, { external_id: 'third' })
  const checked = await start([folder, '--check', '--out', out], undefined).ended
  expect(checked.code).toBe(1)
  expect(checked.stdout).toContain(
    'second.jpg: /external_id: mine names first.jpg already, and second.jpg is another capture',
  )
  expect(checked.stdout).toContain('3 captures, 1 with mistakes')
  const table = join(folder, 'table.csv')
  writeFileSync(table, 'file,external_id\nfirst.jpg,a\nsecond.jpg,a\nfirst.jpg,a\n')
  const inTable = await start(['--manifest', table, '--check', '--out', out], undefined).ended
  expect([inTable.code, inTable.stdout]).toEqual([
    1,
    expect.stringContaining('table.csv:3 (second.jpg): external_id: a names'),
  ])
  expect(inTable.stdout).toContain('3 captures, 1 with mistakes')
})
