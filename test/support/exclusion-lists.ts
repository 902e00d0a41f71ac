// Files of exclusion lists in the exact form of their publishers, from a few rows to full size. The same seed gives the same rows.

import { ZipFile } from 'yazl'

const LEIE_HEADER =
  'LASTNAME,FIRSTNAME,MIDNAME,BUSNAME,GENERAL,SPECIALTY,UPIN,NPI,DOB,ADDRESS,CITY,STATE,ZIP,EXCLTYPE,EXCLDATE,REINDATE,WAIVERDATE,WVRSTATE'
const LEIE_COLUMNS = LEIE_HEADER.split(',')
const SAM_V2_COLUMNS =
  'Classification,Name,Prefix,First,Middle,Last,Suffix,Address 1,Address 2,Address 3,Address 4,City,State / Province,Country,Zip Code,Open Data Flag,Blank (Deprecated),Unique Entity ID,Exclusion Program,Excluding Agency,CT Code,Exclusion Type,Additional Comments,Active Date,Termination Date,Record Status,Cross-Reference,SAM Number,CAGE,NPI,Creation_Date'.split(
    ',',
  )
const SAM_V1_COLUMNS = SAM_V2_COLUMNS.flatMap((name) => {
  if (name === 'Unique Entity ID') return ['DUNS']
  return ['Open Data Flag', 'Blank (Deprecated)', 'Creation_Date'].includes(name) ? [] : [name]
})

export type Row = Record<string, string>

const LEIE_ROW: Row = {
  GENERAL: 'IND- LIC HC SERV PRO',
  SPECIALTY: 'NURSE/NURSES AIDE',
  NPI: '0000000000',
  DOB: '19610415',
  ADDRESS: '1 EXAMPLE ST',
  CITY: 'RENO',
  STATE: 'NV',
  ZIP: '89501',
  EXCLTYPE: '1128b4',
  EXCLDATE: '20180220',
  REINDATE: '00000000',
  WAIVERDATE: '00000000',
}
const SAM_ROW: Row = {
  Classification: 'Individual',
  City: 'RENO',
  'State / Province': 'NV',
  Country: 'USA',
  'Zip Code': '89501',
  'Exclusion Program': 'Reciprocal',
  'Excluding Agency': 'HHS',
  'CT Code': 'Z1',
  'Exclusion Type': 'Prohibition/Restriction',
  'Active Date': '02/20/2018',
  'Termination Date': 'Indefinite',
  'Record Status': 'Active',
  Creation_Date: '2018-02-21',
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const line = (columns: readonly string[], row: Row) => `${columns.map((name) => quoted(row[name] ?? '')).join(',')}\r\n`

/** A file of LEIE: the header is not quoted, and the rows are. */
export function leieFile(rows: readonly Row[], { header = LEIE_HEADER } = {}): Buffer {
  return Buffer.from(`${header}\r\n${rows.map((row) => line(LEIE_COLUMNS, { ...LEIE_ROW, ...row })).join('')}`)
}

export function samFile(rows: readonly Row[], { version = 2 as 1 | 2 } = {}): Buffer {
  const columns = version === 2 ? SAM_V2_COLUMNS : SAM_V1_COLUMNS
  const head = `${columns.map(quoted).join(',')}\r\n`
  return Buffer.from(head + rows.map((row) => line(columns, { ...SAM_ROW, ...row })).join(''))
}

/** Lines of a full LEIE file. 25 rows stand in it twice, and 85 % have no NPI. `planted` are spread over it. */
export function* generateLeie(rows: number, planted: readonly Row[] = []): Generator<string> {
  yield `${LEIE_HEADER}\r\n`
  const random = createRandom(11)
  const repeated: string[] = []
  const own = rows - planted.length - Math.min(25, Math.floor(rows / 10))
  const every = Math.max(1, Math.floor(own / Math.max(1, planted.length)))
  let next = 0
  for (let index = 0; index < own; index += 1) {
    if (index % every === 0 && next < planted.length) {
      yield line(LEIE_COLUMNS, { ...LEIE_ROW, ...planted[next] })
      next += 1
    }
    const text = line(LEIE_COLUMNS, { ...LEIE_ROW, ...randomLeie(random, index) })
    if (repeated.length < rows - own - planted.length) repeated.push(text)
    yield text
  }
  for (; next < planted.length; next += 1) yield line(LEIE_COLUMNS, { ...LEIE_ROW, ...planted[next] })
  yield* repeated
}

function randomLeie(random: () => number, index: number): Row {
  const isBusiness = random() < 0.04
  return {
    ...(isBusiness
      ? { BUSNAME: `EXAMPLE HOME CARE ${index}, INC`, DOB: '' }
      : { LASTNAME: word(random, 20), FIRSTNAME: word(random, 15), MIDNAME: random() < 0.7 ? 'A' : '' }),
    NPI: random() < 0.85 ? '0000000000' : String(1_900_000_000 + index),
    ...(!isBusiness && random() < 0.02 ? { DOB: '' } : !isBusiness && { DOB: date(random, 1930, 65) }),
    EXCLDATE: date(random, 1985, 40),
  }
}

/** Lines of a full SAM extract of version 2: 60 % are people, half of them of HHS and OPM in two rows, nearly none with an NPI. */
export function* generateSam(rows: number, planted: readonly Row[] = []): Generator<string> {
  yield `${SAM_V2_COLUMNS.map(quoted).join(',')}\r\n`
  const random = createRandom(13)
  const every = Math.max(1, Math.floor(rows / Math.max(1, planted.length)))
  let next = 0
  for (let index = 0; index < rows; index += 1) {
    const plant = index % every === 0 ? planted[next] : undefined
    if (plant !== undefined) next += 1
    yield line(SAM_V2_COLUMNS, { ...SAM_ROW, ...(plant ?? randomSam(random, index)) })
  }
}

// As long as the average comment of the extract, whose rows have 440 bytes.
const MASKED = `PII data has been masked from view. ${'The action was taken under the procedures of the agency. '.repeat(3)}`

function randomSam(random: () => number, index: number): Row {
  const comment = random() < 0.3 ? 'EXCLUDED BY THE DEPARTMENT, SEE "NOTICE"\r\nOF THE YEAR' : MASKED
  const common = { 'Additional Comments': comment, 'Address 1': `${index} EXAMPLE AVE` }
  if (random() < 0.4) return { ...common, Classification: 'Firm', Name: `EXAMPLE TRADING ${index} LLC` }
  return {
    ...common,
    First: word(random, 18),
    Last: word(random, 24),
    Middle: random() < 0.5 ? 'B' : '',
    'Excluding Agency': random() < 0.1 ? '' : random() < 0.6 ? 'HHS' : 'OPM',
    NPI: random() < 0.02 ? String(1_800_000_000 + index) : '',
    'Termination Date': random() < 0.8 ? 'Indefinite' : '01/31/2020',
  }
}

const SYLLABLES = [
  'BAR',
  'DEN',
  'FOL',
  'GRI',
  'HAM',
  'KOS',
  'LIN',
  'MOR',
  'NAK',
  'PET',
  'QUO',
  'RUS',
  'SAN',
  'TIV',
  'WEL',
  'ZOR',
]

function word(random: () => number, most: number): string {
  let text = ''
  const syllables = 2 + Math.floor(random() * 4)
  for (let index = 0; index < syllables; index += 1) text += SYLLABLES[Math.floor(random() * SYLLABLES.length)] ?? ''
  return text.slice(0, most)
}

function date(random: () => number, from: number, years: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${from + Math.floor(random() * years)}${two(1 + Math.floor(random() * 12))}${two(1 + Math.floor(random() * 28))}`
}

// mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A ZIP file, in memory. */
export async function zipOf(files: Record<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, bytes] of Object.entries(files)) zip.addBuffer(bytes, name)
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
