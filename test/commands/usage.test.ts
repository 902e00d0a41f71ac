// The output after an unknown word: the sentence that names it, and where to find help; no page of help around it.

import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const WRONG: [string, string[]][] = [
  ['start', ['bogus']],
  ['demo', ['--bogus']],
  ['demo', ['--claims', 'many']],
  ['admin', ['bogus']],
  ['admin', ['jobs', 'list', '--bogus']],
  ['capture', ['--bogus']],
  ['submit', ['--bogus']],
  ['evidence', ['bogus']],
  ['ledger', ['bogus']],
  ['model', ['bogus']],
  ['model', ['fetch', 'bogus']],
  ['migrate', ['bogus']],
  ['listen', ['--bogus']],
  ['diff', ['--bogus']],
  ['new', ['bogus']],
  ['new', ['--bogus']],
]

it.each(WRONG)('npm run %s names the error in %j in its first line', (command, args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`commands/${command}.ts`, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  const [sentence, hint = '', ...more] = stderr.trimEnd().split('\n')
  expect(sentence).toMatch(/bogus|many|takes --processes only/)
  expect(hint).toMatch(command === 'start' ? /^$/ : new RegExp(`^Try: npm run ${command} -- --help$`))
  expect(more).toEqual([])
})
