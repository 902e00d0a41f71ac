import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Found } from '../../commands/submit/entry.ts'
import { readFolder } from '../../commands/submit/folder.ts'
import { readManifest } from '../../commands/submit/manifest.ts'
import { makeFolder } from './submission.ts'

const NFC = 'Küche – é'.normalize('NFC')
const NFD = NFC.normalize('NFD')
const BODY = '{"bundle": {}}'

let work: ReturnType<typeof makeFolder>
beforeEach(() => {
  work = makeFolder()
})
afterEach(() => work.remove())

const write = (...names: string[]) => {
  for (const name of names) writeFileSync(join(work.path, name), name.toLowerCase().endsWith('.json') ? BODY : 'photo')
}

async function inFolder(): Promise<{ found: Found[]; ignored: string[] }> {
  const found: Found[] = []
  const ignored: string[] = []
  const options = { except: '', onIgnored: (path: string) => void ignored.push(path) }
  for await (const one of readFolder(work.path, options)) found.push(one)
  return { found, ignored }
}

async function inTable(text: string, name = 'claims.csv'): Promise<Found[]> {
  writeFileSync(join(work.path, name), text)
  const found: Found[] = []
  const options = { directory: work.path, onNote: () => {} }
  for await (const one of readManifest(join(work.path, name), options)) found.push(one)
  return found
}

describe('a photo and its signed JSON are one capture', () => {
  test.each([
    [`${NFC}.jpg`, `${NFD}.json`],
    [`${NFD}.jpg`, `${NFC}.json`],
    [`${NFD}.jpg`, `${NFC}.jpg.json`],
    [`${NFC}.jpg`, `${NFC}.JSON`],
    [`${NFD}.JPG`, `${NFC}.Json`],
  ])('%j with %j', async (photo, json) => {
    write(photo, json)
    const { found, ignored } = await inFolder()
    expect(found).toMatchObject([{ file: photo, bodyPath: join(work.path, json), body: { bundle: {} } }])
    expect(found[0]?.problems).toBeUndefined()
    expect(ignored).toEqual([])
  })

  test('by the same form first, where both are there', async () => {
    write(`${NFC}.jpg`, `${NFD}.jpg`, `${NFC}.json`, `${NFD}.json`)
    const pairs = (await inFolder()).found.map(({ file, bodyPath }) => [file, basename(bodyPath ?? '')])
    expect(new Map(pairs as [string, string][])).toEqual(
      new Map([
        [`${NFC}.jpg`, `${NFC}.json`],
        [`${NFD}.jpg`, `${NFD}.json`],
      ]),
    )
  })

  test('and never two photos with one JSON', async () => {
    write(`${NFC}.jpg`, `${NFD}.jpg`, `${NFC}.json`)
    const { found } = await inFolder()
    expect(found.find(({ file }) => file === `${NFC}.jpg`)).toMatchObject({ body: { bundle: {} } })
    expect(found.find(({ file }) => file === `${NFD}.jpg`)).toMatchObject({ problems: [{ code: 'ambiguous' }] })
  })
})

describe('a table names its files in either form', () => {
  test.each([
    [NFC, NFD],
    [NFD, NFC],
  ])('%j for %j, in folders too, with the JSON beside the photo', async (inText, onDisk) => {
    mkdirSync(join(work.path, onDisk))
    write(`${onDisk}/${onDisk}.jpg`, `${onDisk}/${onDisk}.json`, 'a.jpg', `${onDisk}.body.json`)
    const rows = await inTable(`file,body\n${inText}/${inText}.jpg,\na.jpg,${inText}.body.json\n`)
    expect(rows).toMatchObject([
      { photo: join(work.path, onDisk, `${onDisk}.jpg`), body: { bundle: {} } },
      { photo: join(work.path, 'a.jpg'), body: { bundle: {} } },
    ])
    for (const { problems } of rows) expect(problems).toBeUndefined()
    const lines = await inTable(JSON.stringify({ media: { file: `${inText}/${inText}.jpg` } }), 'claims.ndjson')
    expect(lines).toMatchObject([{ photo: join(work.path, onDisk, `${onDisk}.jpg`) }])
  })

  test('but not one of two files that differ in their form alone, nor one outside of the folder', async () => {
    const other = 'ǖber'
    // Three forms of one name.
    write(`${other.normalize('NFD')}.jpg`, `${'ü\u0304ber'}.jpg`)
    mkdirSync(join(work.path, 'in'))
    const rows = await inTable(`file\n${other.normalize('NFC')}.jpg\n../${NFC}.jpg\nnobody.jpg\n`)
    expect(rows.map(({ problems }) => problems?.[0]?.code)).toEqual(['ambiguous', 'not_found', 'not_found'])
  })
})
