// Vectors have one form, their ids stay unique, and every family is run by the service and by the clients that implement it.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { loadAnswers } from '../../tools/vectors/answers.ts'
import { FAMILIES, formatVectors, listVectors, pathOfVectors, readVectors } from '../../tools/vectors/file.ts'
import { MADE } from '../../tools/vectors/make.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FILES = listVectors()
const schema = JSON.parse(readFileSync(resolve(ROOT, 'vectors/schema.json'), 'utf8'))
const validate = new Ajv2020({ allErrors: false, strict: false }).compile(schema)

// The least number of cases, so that none is lost unseen. It only rises.
const AT_LEAST: Record<(typeof FAMILIES)[number], number> = {
  tokens: 294,
  canonical: 175,
  webhooks: 139,
  passkeys: 86,
  policy: 324,
  ledger: 501,
  packets: 297,
}
// What the TypeScript client implements by itself. The service calls its code for checkpoints, exports and packets.
const IN_TYPESCRIPT = ['tokens/', 'canonical/', 'webhooks/signatures']
// The service has its own keys, and fetches none.
const NOT_OF_SERVICE = ['tokens/key-source']

describe.each(FILES)('vectors/%s.json', (name) => {
  const file = readVectors(name)
  const [family = '', base] = name.split('/')

  it('has the form of vectors/schema.json, and its one spelling', () => {
    validate(file)
    expect(validate.errors ?? []).toEqual([])
    expect(file.family).toBe(family)
    expect(readFileSync(pathOfVectors(name), 'utf8')).toBe(formatVectors(file))
  })

  it('has ids that begin with family and file', () => {
    expect(file.cases.filter(({ id }) => !id.startsWith(`${family}-${base}-`))).toEqual([])
  })
})

it('ids are unique in all files', () => {
  const ids = FILES.flatMap((name) => readVectors(name).cases.map(({ id }) => id))
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

it('no case is missing', () => {
  const counts = FAMILIES.map((family) => {
    const files = FILES.filter((name) => name.startsWith(`${family}/`))
    const count = files.reduce((sum, name) => sum + readVectors(name).cases.length, 0)
    return [family, count >= AT_LEAST[family] ? 'enough' : count]
  })
  expect(counts).toEqual(FAMILIES.map((family) => [family, 'enough']))
})

it.each(Object.entries(MADE))('%s is what its script makes: npm run vectors writes it', async (name, make) => {
  const made = formatVectors(await make())
  // Not toBe, which prints both.
  expect(readFileSync(pathOfVectors(name), 'utf8') === made).toBe(true)
})

it('the service runs every file, and the TypeScript client every family that it implements', async () => {
  const ofService = FILES.filter((name) => !NOT_OF_SERVICE.includes(name))
  expect(Object.keys(await loadAnswers('service')).toSorted()).toEqual(ofService)
  const client = Object.keys(await loadAnswers('typescript')).toSorted()
  expect(client).toEqual(FILES.filter((name) => IN_TYPESCRIPT.some((start) => name.startsWith(start))))
})

it.each(['python-verifier/tests/test_vectors.py', 'go-verifier/vectors_test.go'])(
  'the tests in clients/%s run every file of tokens and canonical JSON',
  (path) => {
    const text = readFileSync(resolve(ROOT, 'clients', path), 'utf8')
    const implemented = FILES.filter((name) => /^(?:tokens|canonical)\//.test(name))
    expect(implemented.filter((name) => !text.includes(`"${name}"`))).toEqual([])
  },
)
