import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EVENT_DATA } from '#src/catalogue/events.ts'
import { ACCOUNT_TYPES, CONTENT_TYPES, SCOPED_TYPES } from '#src/catalogue/ids.ts'
import { LOG_SUBJECTS } from '#src/catalogue/log-fields.ts'
import { QUEUES } from '#src/catalogue/queues.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const WORDS = [...Object.keys(SCOPED_TYPES), ...Object.keys(ACCOUNT_TYPES), ...Object.keys(CONTENT_TYPES)]
// API keys look like ids.
const NO_IDS = ['svc']
// An id in code, in an example or in prose: its word, and then the environment, a base32 time or an expression.
const ID = /(?<![A-Za-z0-9_])([a-z]{3})_(?:(?:test|live)(?![A-Za-z0-9])|(?=0[0-9a-hjkmnp-tv-z]{6})|(?=\$\{))/g

describe('the catalogue', () => {
  it('has every type of id that the code, the examples and the documents name', () => {
    const unknown = ['src', 'commands', 'capture-kit', 'docs', 'README.md'].flatMap(filesOf).flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(ID)]
        .map(([, word = '']) => word)
        .filter((word) => !WORDS.includes(word) && !NO_IDS.includes(word))
        .map((word) => `${file}: ${word}`),
    )
    expect(unknown).toEqual([])
  })

  it('gives each type of id a word of its own, and has none that the code does not use', () => {
    expect(new Set(WORDS).size).toBe(WORDS.length)
    const code = filesOf('src')
      .filter((file) => !file.startsWith('src/catalogue/'))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n')
    expect(WORDS.filter((word) => !code.includes(`'${word}'`))).toEqual([])
  })

  it('has the data of an event only if the code emits it', () => {
    const emitting = filesOf('src')
      .filter((file) => !/^src\/(?:catalogue|docs)\/|\/notes\.ts$/.test(file))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n')
    expect(Object.keys(EVENT_DATA).filter((type) => !emitting.includes(`type: '${type}'`))).toEqual([])
  })

  it('has a log subject for each id in the payload of a job: the log lines of the job carry it', () => {
    const missing = Object.entries(QUEUES).flatMap(([queue, { payload }]) =>
      membersOf(payload)
        .filter((member) => !(LOG_SUBJECTS as readonly string[]).includes(member.replace(/Id$/, '')))
        .map((member) => `${queue}: ${member}`),
    )
    expect(missing).toEqual([])
  })
})

function membersOf(payload: (typeof QUEUES)[keyof typeof QUEUES]['payload']): string[] {
  const shapes = 'shape' in payload ? [payload.shape] : payload.options.map(({ shape }) => shape)
  return shapes.flatMap((shape) => Object.keys(shape))
}

function filesOf(path: string): string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return /\.(?:ts|md)$/.test(path) ? [path] : []
  return readdirSync(join(ROOT, path)).flatMap((name) => filesOf(join(path, name)))
}
