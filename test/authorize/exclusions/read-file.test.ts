import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListName, readerOf, readFileName, refusalIn } from '#src/authorize/exclusions/formats.ts'
import { matchKeysOf } from '#src/authorize/exclusions/match-keys.ts'
import { readRows } from '#src/authorize/exclusions/read-file.ts'
import { leieFile, type Row, samFile, zipOf } from '../../support/exclusion-lists.ts'

const SECRET = Buffer.alloc(32, 7)
const PERSON = { LASTNAME: 'QUORVEX', FIRSTNAME: 'ROBIN' }
const SAM_PERSON = { Last: 'QUORVEX', First: 'ROBIN' }
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lists-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(bytes: Uint8Array, options = {}): Promise<string[][] | string> {
  const path = join(folder, 'file')
  await writeFile(path, bytes)
  try {
    return await Array.fromAsync(readRows(path, options))
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal === undefined) throw error
    return refusal.code
  }
}
async function entry(list: ListName, row: Row, bytes = list === 'leie' ? leieFile([row]) : samFile([row])) {
  const [header = [], first = []] = (await read(bytes)) as string[][]
  return readerOf(list, header).entryOf(first, SECRET)
}

describe('a file of a list', () => {
  const good = leieFile([PERSON])

  it('is read as CSV and from a ZIP file, with a byte order mark, commas, quotes and line breaks', async () => {
    const row = { ...SAM_PERSON, 'Additional Comments': 'SEE "NOTICE",\r\nPAGE 2' }
    const plain = await read(samFile([row]))
    expect((plain[1] as string[]).filter((cell) => cell.includes('NOTICE'))).toEqual([row['Additional Comments']])
    expect(await read(Buffer.concat([Buffer.from('\ufeff'), samFile([row])]))).toEqual(plain)
    expect(await read(await zipOf({ 'SAM.CSV': samFile([row]) }))).toEqual(plain)
  })

  it('is refused by name when it is cut, empty, no CSV or no UTF-8', async () => {
    expect(await read(good.subarray(0, -2))).toBe('unfinished_line')
    expect(await read(good.subarray(0, -9))).toMatch(/unfinished_line|unreadable_csv/)
    expect(await read(Buffer.alloc(0))).toBe('no_rows')
    expect(await read(Buffer.from('a,b\n1,2,3\n'))).toBe('unreadable_csv')
    expect(await read(Buffer.from('a,b\n"1,2\n'))).toBe('unreadable_csv')
    expect(await read(Buffer.from(`a\n"${'x'.repeat(70_000)}"\n`))).toBe('unreadable_csv')
    expect(await read(Buffer.concat([good, Buffer.from([0x22, 0xe9, 0x22, 0x0a])]))).toBe('invalid_encoding')
    expect(await read(good, { maxBytes: 10 })).toBe('unreadable_csv')
  })

  it('is refused when its ZIP is truncated, has two entries, leaves the folder, is encrypted or unpacks to too much', async () => {
    const zip = await zipOf({ 'aa-x.csv': good })
    const patched = (change: (bytes: Buffer, central: number) => void) => {
      const bytes = Buffer.from(zip)
      change(bytes, bytes.indexOf(Buffer.from('PK\x01\x02', 'latin1')))
      return bytes
    }
    const renamed = (name: string) => Buffer.from(zip.toString('latin1').replaceAll('aa-x.csv', name), 'latin1')
    expect(await read(zip)).toHaveLength(2)
    expect(await read(zip.subarray(0, -30))).toBe('unreadable_zip')
    expect(await read(await zipOf({ 'a.csv': good, 'b.csv': good }))).toBe('unreadable_zip')
    expect(await read(await zipOf({ 'readme.txt': good }))).toBe('unreadable_zip')
    for (const name of ['../x.csv', '/a-x.csv', 'aa\\x.csv', 'aa/x.csv'])
      expect(await read(renamed(name))).toBe('unreadable_zip')
    expect(await read(patched((bytes, at) => bytes.writeUInt16LE(1, at + 8)))).toBe('unreadable_zip')
    expect(await read(patched((bytes, at) => bytes.writeUInt32LE(1, at + 16)))).toBe('unreadable_zip')
    // More than it declares, and more than is allowed.
    expect(await read(patched((bytes, at) => bytes.writeUInt32LE(20, at + 24)))).toBe('unreadable_zip')
    expect(await read(await zipOf({ 'a.csv': Buffer.alloc(1_000_000, 0x0a) }), { maxBytes: 999_999 })).toBe(
      'unreadable_zip',
    )
  })

  it('is refused without its columns, which are found by name', async () => {
    const refusal = (list: ListName, header: string[]) => {
      try {
        return readerOf(list, header) && undefined
      } catch (error) {
        return refusalIn(error)
      }
    }
    const [leie = [], sam = []] = [(await read(good))[0], (await read(samFile([])))[0]] as string[][]
    expect(refusal('sam', leie)?.code).toBe('missing_columns')
    expect(refusal('leie', sam)?.code).toBe('missing_columns')
    expect(
      refusal(
        'leie',
        leie.filter((name) => name !== 'DOB'),
      )?.detail,
    ).toContain('DOB')
    expect(
      refusal(
        'leie',
        leie.map((name) => (name === 'WVRSTATE' ? 'WAIVERSTATE' : name)),
      ),
    ).toBeUndefined()
    expect(refusal('sam', sam.toReversed())).toBeUndefined()
  })
})

describe('a row of LEIE', () => {
  const keys = matchKeysOf(SECRET, { lastName: 'Quorvex', firstName: 'Robin', birthDate: '1961-04-15', states: [] })

  it('has the keys of its number, name and birth date', async () => {
    expect(await entry('leie', { ...PERSON, NPI: '1234567893', WVRSTATE: 'NM', WAIVERDATE: '20200101' })).toMatchObject(
      {
        ...{ npi: '1234567893', fullKey: keys.fullKey, nameKey: keys.nameKey, stateKey: null },
        ...{ startedOn: '2018-02-20', endedOn: null, waivedIn: 'NM', waivedOn: '2020-01-01' },
      },
    )
  })

  it.each(['0000000000', '', '0', '123456789', '12345678901', 'ABCDEFGHIJ'])('has no number %j', async (NPI) => {
    expect((await entry('leie', { ...PERSON, NPI })).npi).toBeNull()
  })

  it.each(['00000000', '', 'Indefinite', '19610230', '1961'])('has no birth date %j', async (DOB) => {
    expect(await entry('leie', { ...PERSON, DOB })).toMatchObject({ fullKey: null, nameKey: keys.nameKey })
  })

  it('has no keys of a name where one part is empty, such as a business', async () => {
    for (const row of [{ BUSNAME: 'EXAMPLE INC' }, { LASTNAME: 'QUORVEX' }, { FIRSTNAME: 'ROBIN' }]) {
      expect(await entry('leie', row)).toMatchObject({ fullKey: null, nameKey: null })
    }
  })
})

describe('a row of SAM', () => {
  const [stateKey] = matchKeysOf(SECRET, {
    ...{ lastName: 'Quorvex', firstName: 'Robin', birthDate: null, states: ['NV'] },
  }).stateKeys

  it('has the key of name and state, in both versions, with an empty agency and classification', async () => {
    const row = { ...SAM_PERSON, 'Excluding Agency': '', Classification: '', NPI: '1234567893' }
    const expected = {
      npi: '1234567893',
      stateKey,
      fullKey: null,
      nameKey: null,
      endedOn: null,
      startedOn: '2018-02-20',
    }
    expect(await entry('sam', row)).toMatchObject(expected)
    expect(await entry('sam', row, samFile([row], { version: 1 }))).toMatchObject(expected)
  })

  it('ends on the day after its termination, and never where that is indefinite', async () => {
    const endedOn = async (text: string) => (await entry('sam', { ...SAM_PERSON, 'Termination Date': text })).endedOn
    expect(await endedOn('12/31/2025')).toBe('2026-01-01')
    for (const text of ['Indefinite', '', '13/45/2025', '2025-12-31']) expect(await endedOn(text)).toBeNull()
  })

  it('names nobody when the comment says that the entity is not itself excluded', async () => {
    const row = { ...SAM_PERSON, NPI: '1234567893', 'Additional Comments': 'The entity is not itself excluded.' }
    expect(await entry('sam', row)).toMatchObject({ npi: null, stateKey: null })
  })

  it('has one hash whatever its SAM Number and the order of the columns, and another one for other content', async () => {
    const hash = async (row: Row) => (await entry('sam', { ...SAM_PERSON, ...row })).rowHash.toString('hex')
    expect(await hash({ 'SAM Number': 'S4MR3PW' })).toBe(await hash({}))
    expect(await hash({ 'Excluding Agency': 'OPM' })).not.toBe(await hash({}))
  })
})

it('the name of a file tells its date and whether it is a supplement', () => {
  expect(readFileName('leie', '2511excl.csv')).toEqual({ kind: 'excl', date: '2025-11-30' })
  expect(readFileName('leie', '2602REIN.csv')).toEqual({ kind: 'rein', date: '2026-02-28' })
  expect(readFileName('leie', 'UPDATED.csv')).toEqual({ kind: undefined, date: null })
  expect(readFileName('leie', 'UPDATED_2026-06-30.csv').date).toBe('2026-06-30')
  expect(readFileName('leie', '2613excl.csv').date).toBeNull()
  expect(readFileName('sam', 'SAM_Exclusions_Public_Extract_V2_24366.ZIP')).toEqual({
    kind: 'full',
    date: '2024-12-31',
  })
  expect(readFileName('sam', 'SAM_Exclusions_Public_Extract_V2_25366.ZIP').date).toBeNull()
  expect(readFileName('sam', 'SAM_Exclusions_Public_Extract_V2_25000.ZIP').date).toBeNull()
  expect(readFileName('sam', undefined)).toEqual({ kind: undefined, date: null })
})
