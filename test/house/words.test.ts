import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const PLACES = [
  'src',
  'workers',
  'commands',
  'bench',
  'bootstrap',
  'capture-kit',
  'clients',
  'faults',
  'hostile',
  'tools',
  'test',
  'docs',
  'README.md',
  'CONTRIBUTING.md',
]
// It names the words.
const SELF = 'test/house/words.test.ts'
const TEXT = /\.(?:ts|js|cjs|mjs|css|html|md)$/

// The glossary replaced these words; each pattern comes with the word to use.
const REPLACED: Record<string, string> = {
  'crowd(?:s|ed)?': 'batch, or the number of concurrent callers',
  'ferr(?:y|ies|ied)': 'batcher',
  'passengers?': 'item',
  'berths?': 'slot',
  'hasten(?:s|ed|ing)?': 'dispatch eagerly',
  whoever: 'the caller, by name',
  mended: 'fixed',
  'judged again': 're-evaluated',
  'for good(?! reasons?)': 'permanently',
  'nobody else': 'no other caller, by name',
}

it('the code and the documents avoid the words that the glossary replaced', () => {
  const files = PLACES.flatMap(filesOf).filter((file) => file !== SELF)
  expect(files.flatMap(foundIn)).toEqual([])
})

it('the search for replaced words finds them in any case, across lines of a comment, and as whole words only', () => {
  expect(search('// Whoever is\n// judged\n  // again, for\n * good')).toEqual([
    '1: "Whoever", use: the caller, by name',
    '2: "judged again", use: re-evaluated',
    '3: "for good", use: permanently',
  ])
  expect(search('crowdsourced, accepted for good reason, judged; again')).toEqual([])
})

// Comments that begin with "Of", "Whose", "As", "Those" or "By" and have no main verb make readers look for their noun.
const COMMENTED = [
  'src',
  'workers',
  'commands',
  'bench',
  'bootstrap',
  'capture-kit',
  'clients',
  'faults',
  'hostile',
  'tools',
  'test/support',
]
const CODE = /\.(?:ts|js|cjs|mjs)$/
const CEILING = 0
const FINITE_VERB =
  /\b(?:is|are|was|were|has|have|had|do|does|did|can|could|may|might|must|will|would|should|need|needs|get|gets|stays?|reads?|counts?|waits?|takes?|costs?|comes?|goes|makes?|gives?|keeps?)\b/

it('comments begin with a noun or a verb, not with "Of", "Whose", "As", "Those" or "By"', () => {
  const found = COMMENTED.flatMap(filesOf)
    // The comments of generated files are the descriptions of the OpenAPI document.
    .filter((file) => CODE.test(file) && !file.includes('/generated/'))
    .flatMap((file) => verblessIn(readFileSync(join(ROOT, file), 'utf8')).map((comment) => `${file}:${comment}`))
  expect(
    found.length,
    `The ceiling only falls. Write a sentence with a verb, or a noun phrase that stands alone:\n${found.join('\n')}`,
  ).toBeLessThanOrEqual(CEILING)
})

it('the search for comments without a main verb reads both kinds of comments, and accepts a clause after a comma', () => {
  const code = [
    '/** Of the row. */',
    'const a = 1 // As stored.',
    '/**',
    ' * Whose rows',
    ' * they are. It has a verb.',
    ' */',
    '// By the clock of',
    '// the database.',
    "const text = 'a// Those of strings'",
    '// As Postgres plans each statement, the text is kept.',
    '// Ordered by name. Of these the first counts.',
  ]
  expect(verblessIn(code.join('\n'))).toEqual([
    '1: Of the row.',
    '2: As stored.',
    '3: Whose rows they are.',
    '7: By the clock of the database.',
  ])
})

function verblessIn(text: string): string[] {
  return commentsIn(text).flatMap(({ line, comment }) => {
    const [sentence = ''] = comment.split(/(?<=[.:])\s/, 1)
    const [first, ...clauses] = sentence.split(',')
    const isVerbless = /^(?:Of|Whose|As|Those|By)\b/.test(first ?? '') && !FINITE_VERB.test(clauses.join(','))
    return isVerbless ? [`${line}: ${sentence}`] : []
  })
}

// Lines of `//` that follow each other are one comment.
function commentsIn(text: string): { line: number; comment: string }[] {
  const pattern = /(?<=^|\s)\/\*[\s\S]*?\*\/|(?<=^[ \t]*)\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=\s)\/\/ .*/gm
  return [...text.matchAll(pattern)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split('\n').length,
    comment: comment
      .replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))
}

function foundIn(file: string): string[] {
  return search(readFileSync(join(ROOT, file), 'utf8')).map((found) => `${file}:${found}`)
}

// A phrase may continue in the next line of a comment or of a quotation.
function search(text: string): string[] {
  return Object.entries(REPLACED)
    .flatMap(([words, instead]) => {
      const pattern = new RegExp(`\\b${words.replaceAll(/ (?!reason)/g, '(?:\\s|//|\\*|>)+')}\\b`, 'gi')
      return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
        line: text.slice(0, index).split('\n').length,
        what: `"${found.replaceAll(/(?:\s|\/\/|\*|>)+/g, ' ')}", use: ${instead}`,
      }))
    })
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, what }) => `${line}: ${what}`)
}

function filesOf(path: string): string[] {
  if (!existsSync(join(ROOT, path))) return []
  if (!statSync(join(ROOT, path)).isDirectory()) return TEXT.test(path) ? [path] : []
  return readdirSync(join(ROOT, path)).flatMap((name) => filesOf(join(path, name)))
}
