import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BatchLine } from '../../capture-kit/client.ts'
import { openJournal } from '../../commands/submit/journal.ts'
import { createPlan } from '../../commands/submit/plan.ts'
import { createProgress } from '../../commands/submit/progress.ts'
import { problemLines } from '../../commands/submit/summary.ts'
import { readTable } from '../../commands/submit/table.ts'
import { makeFolder } from './submission.ts'

let work: ReturnType<typeof makeFolder>
let state: string

beforeEach(() => {
  work = makeFolder()
  state = join(work.path, 'state.ndjson')
})

afterEach(() => work.remove())

async function table(bytes: string | Buffer): Promise<string[]> {
  const unknown: string[] = []
  const options = {
    required: ['file'],
    known: ['file', 'note'],
    onUnknown: (names: readonly string[]) => unknown.push(...names),
  }
  const rows: string[] = unknown
  for await (const row of readTable(Readable.from([Buffer.from(bytes)]), options)) {
    rows.push(
      'problem' in row ? `${row.line} ${row.problem.code}` : `${row.line} ${JSON.stringify([...row.cells.values()])}`,
    )
  }
  return rows
}

test('a table is parsed as office programs write it, and an invalid record does not affect the others', async () => {
  const cases: [text: string | Buffer, rows: string[]][] = [
    ['file,note\na,b\n', ['2 ["a","b"]']],
    ['\uFEFFFile;Note\r\na;"b;c"\r\n', ['2 ["a","b;c"]']],
    ['file\tother\na\tb', ['other', '2 ["a","b"]']],
    ['file,note\n\na,"x\n\n""y"""\nb,\n', ['3 ["a","x\\n\\"y\\""]', '6 ["b"]']],
    ['file,note\na,5" crack\nb,6" crack\n', ['2 ["a","5\\" crack"]', '3 ["b","6\\" crack"]']],
    ['file,note\na,"open\nb,c\nd,"e"\n', ['2 malformed', '3 ["b","c"]', '4 ["d","e"]']],
    ['file,note\na,"open\nb,c\n', ['2 malformed', '3 ["b","c"]']],
    ['file,note\na,b,c\nd\n', ['2 malformed', '3 ["d"]']],
    [Buffer.from('file,note\na,\xfc\nb,c\n', 'latin1'), ['2 invalid_utf8', '3 ["b","c"]']],
    [`file,note\na,${'x'.repeat(70_000)}\nb,c\n`, ['2 too_long', '3 ["b","c"]']],
    [`file,note\na,"${'x\n'.repeat(500)}\nb,c\n`, ['2 malformed', ...new Array(499).fill('["x"]'), '["b","c"]']],
  ]
  for (const [text, rows] of cases) {
    const found = await table(text)
    if (rows.length < 20) expect(found).toEqual(rows)
    else expect(found.map((row) => row.replace(/^\d+ (?=\[)/, ''))).toEqual(rows)
  }
})

test('a table is refused without its column, with a doubled column, or in another encoding', async () => {
  const utf16 = Buffer.from('\uFEFFfile,note\na,b\n', 'utf16le')
  for (const text of ['', 'photo,note\na,b', 'file,file\na,b', '"file\na', utf16]) {
    await expect(table(text)).rejects.toMatchObject({ code: 'ERR_USAGE' })
  }
})

const RESULT = {
  line: 1,
  cursor: 'c',
  is_repeat: false,
  attestation_id: 'a',
  claim_id: 'c',
  external_id: null,
  failure: null,
} as const

test('a journal keeps finished work when it is truncated at any byte', async () => {
  const evaluated: BatchLine = { ...RESULT, status: 'succeeded' }
  const journal = await openJournal(state, 'key')
  journal.addMedia('f', { mediaId: 'm', digest: 'd' })
  journal.addBatch({ batchId: 'b1', keys: ['k1', 'k2'] })
  journal.addBatch({ batchId: 'b2', keys: ['k3', 'k4'] })
  journal.addResult('k1', evaluated)
  journal.addResult('k2', { ...RESULT, status: 'failed' })
  journal.addRefusal('k3', [{ pointer: '', code: 'c', detail: 'd' }])
  journal.endBatch('b1')
  expect(journal.read('k3')).toEqual({ errors: [{ pointer: '', code: 'c', detail: 'd' }] })
  await journal.close()
  const whole = readFileSync(state)

  for (let cut = whole.length; cut >= 0; cut -= 1) {
    writeFileSync(state, whole.subarray(0, cut))
    const again = await openJournal(state, 'key')
    again.addRefusal('new', [])
    expect(again.read('new')).toEqual({ errors: [] })
    if (cut === whole.length) {
      expect(again.read('k1')).toEqual({ result: evaluated })
      expect(['k1', 'k2', 'k3'].map(again.isDone)).toEqual([true, false, false])
      // A refusal may no longer apply: the user who runs the command again wants to know.
      expect(again.hasOutcome('k3')).toBe(false)
      expect(again.open()).toEqual([{ batchId: 'b2', keys: ['k3', 'k4'] }])
      expect(again.mediaOf('f')).toEqual({ mediaId: 'm', digest: 'd' })
    }
    await again.close()
  }
})

test('a journal accepts no media of another key, and is used by one process at a time', async () => {
  const journal = await openJournal(state, 'key')
  journal.addMedia('f', { mediaId: 'm', digest: 'd' })
  await journal.close()
  const other = await openJournal(state, 'another')
  expect(other.mediaOf('f')).toBeUndefined()
  await other.close()

  const held = await openJournal(state, 'key')
  await expect(openJournal(state, 'key')).rejects.toThrow('Another run')
  await held.close()
  await (await openJournal(state, 'key')).close()

  appendFileSync(state, '{"t":1}\n')
  await expect(openJournal(state, 'key')).rejects.toThrow('damaged')
})

test('a plan keeps its order, and distinguishes equal lines', async () => {
  const plan = await createPlan(state)
  const entry = { source: 's', file: 'f', body: {}, problems: [] }
  const keys = []
  for (const key of ['x', 'y', 'x', 'x']) keys.push(await plan.add({ ...entry, key }))
  expect(keys).toEqual(['x', 'y', 'x.1', 'x.2'])
  for (let pass = 0; pass < 2; pass += 1) {
    const read = []
    for await (const { key } of plan.entries()) read.push(key)
    expect(read).toEqual(keys)
  }
  await plan.remove()
})

test('progress is one updated line on a terminal and an occasional line elsewhere', () => {
  let clock = 0
  let written = ''
  const write = (text: string) => {
    written += text
  }
  const terminal = createProgress({ isTTY: true, columns: 60, write }, false, () => clock)
  terminal.start(10, 2)
  terminal.add('uploaded', 8)
  terminal.add('settled', 3)
  clock = 1_000
  terminal.end()
  expect(written).toBe('\r[###############.....]  75 %  10/10 uploaded, 2 submitted, \x1b[K\n')

  written = ''
  const plain = createProgress({ write }, false, () => clock)
  plain.start(4, 0)
  plain.trouble('503')
  plain.trouble('503')
  plain.end()
  expect(written.split('\n')).toEqual([
    '[....................]   0 %  0/4 uploaded, 0 submitted, 0 done  trying again: 503',
    '[....................]   0 %  0/4 uploaded, 0 submitted, 0 done  0.0/s',
    '',
  ])
})

test('file names reach a terminal without their control characters', () => {
  const entry = {
    source: 'a\x1b[2J\n.jpg',
    file: '',
    key: '',
    body: {},
    problems: [{ pointer: '/x', code: 'c', detail: 'd' }],
  }
  expect(problemLines(entry)).toEqual(['a\uFFFD[2J\uFFFD.jpg: /x: d [c]'])
})
