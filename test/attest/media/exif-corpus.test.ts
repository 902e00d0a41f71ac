import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judge } from '#src/attest/factors/judge.ts'
import { readExif, readImageFacts } from '#src/attest/media/exif.ts'
import { factsOf } from '../factors/vectors.ts'

const corpus = process.env.CORPUS
const files = ['exif', 'ai-images'].flatMap(imagesIn)
const isUnset = corpus === undefined || corpus === ''
const title = isUnset ? 'real images (skipped: CORPUS is unset)' : `${files.length} real images`

// The expected values were read from the bytes with strings(1) and file(1).
const KNOWN: Record<
  string,
  [date: string | null, subSec: string | null, offset: string | null, software: string | null]
> = {
  'Canon_40D.jpg': ['2008:05:30 15:56:01', '00', null, 'GIMP 2.4.5'],
  'Canon_40D_photoshop_import.jpg': [null, null, null, 'GIMP 2.4.5'],
  'DSCN0010.jpg': ['2008:10:22 16:28:39', null, null, 'Nikon Transfer 1.1 W'],
  'IMG_5195.HEIC': ['2021:04:11 15:47:53', '054', '-05:00', '14.4.2'],
  'Nikon_D70.jpg': ['2008:03:15 09:52:01', null, null, 'GIMP 2.4.5'],
  'Sony_HDR-HC3.jpg': ['2007:06:15 04:42:32', null, null, null],
  'corrupted.jpg': ['2015:09:08 11:02:17', null, null, 'Version 1.0'],
}

test.skipIf(isUnset)(`${title} are opened, with equal results from a path and from bytes`, async () => {
  expect(files.length).toBeGreaterThan(0)
  for (const path of files) {
    const facts = await readImageFacts(path)
    expect(facts, path).toEqual(await readImageFacts(await readFile(path)))
    expect(facts.format, path).not.toBeNull()
    expect(facts.exif.state, path).not.toBe('unreadable')
  }
})

test.skipIf(isUnset)(`${title}: all known values are read`, async () => {
  const seen = files.filter((path) => nameOf(path) in KNOWN)
  expect(seen).toHaveLength(Object.keys(KNOWN).length)
  for (const path of seen) {
    const [dateTimeOriginal, subSec, offset, software] = KNOWN[nameOf(path)] ?? []
    expect(await readExif(path), path).toMatchObject({ state: 'read', dateTimeOriginal, subSec, offset, software })
  }
})

test.skipIf(isUnset)(`${title}: those that an editor wrote are distinguished from camera files`, async () => {
  const edited: string[] = []
  for (const path of files) {
    const facts = { ...factsOf({}), exif: await readExif(path) }
    if (judge(facts).advisoryFactors.some(({ code }) => code === 'exif_editor_trace')) edited.push(nameOf(path))
  }
  const expected = ['Canon_40D.jpg', 'Canon_40D_photoshop_import.jpg', 'Nikon_D70.jpg', 'PaintTool_sample.jpg']
  expect(edited.sort()).toEqual(expected)
})

test.skipIf(isUnset)(`${title}: the time of a phone with an offset is compared to the millisecond`, async () => {
  const path = files.find((file) => nameOf(file) === 'IMG_5195.HEIC') ?? ''
  const at = (capturedAt: string) => ({ ...factsOf({ '/bundle/capturedAt': capturedAt, '/acceptedAt': capturedAt }) })
  const exif = await readExif(path)
  expect(judge({ ...at('2021-04-11T20:52:53.054Z'), exif }).advisoryFactors).toEqual([])
  expect(judge({ ...at('2021-04-11T20:52:53.055Z'), exif }).advisoryFactors).toMatchObject([
    {
      code: 'exif_timestamp_mismatch',
      evidence: { found: '2021-04-11T15:47:53.054-05:00', difference_seconds: 300.001 },
    },
  ])
})

interface TimeCase {
  name: string
  capturedAt: string
  isMismatch: boolean
}

const times: TimeCase[] = isUnset ? [] : readTimes(join(corpus, 'reports/exif-times/cases.json'))

describe.skipIf(isUnset)(`${times.length} times that cameras and programs wrote`, () => {
  // Blanks and zeros say that the time is unknown.
  const UNKNOWN = ['blanks', 'zeros']

  test.each(times)('$name', async ({ name, capturedAt, isMismatch }) => {
    const exif = await readExif(join(corpus ?? '', 'reports/exif-times', `${name}.jpg`))
    const facts = factsOf({ '/bundle/capturedAt': capturedAt, '/acceptedAt': capturedAt })
    const { advisoryFactors, observations } = judge({ ...facts, exif })
    expect(advisoryFactors.map(({ code }) => code)).toEqual(isMismatch ? ['exif_timestamp_mismatch'] : [])
    expect(observations).toEqual([])
    // Each of these times is read: a difference of a day is found.
    const nextDay = new Date(Date.parse(capturedAt) + 86_400_000).toISOString()
    const later = judge({ ...factsOf({ '/bundle/capturedAt': nextDay, '/acceptedAt': nextDay }), exif })
    const isRead = later.advisoryFactors.some(({ code }) => code === 'exif_timestamp_mismatch')
    expect(isRead).toBe(!UNKNOWN.includes(name))
  })

  test('are all of the folder', () => {
    const files = readdirSync(join(corpus ?? '', 'reports/exif-times')).filter((file) => file.endsWith('.jpg'))
    expect(times.map(({ name }) => `${name}.jpg`).sort()).toEqual(files.sort())
  })
})

function readTimes(path: string): TimeCase[] {
  const cases: [string, string, boolean][] = JSON.parse(readFileSync(path, 'utf8'))
  return cases.map(([name, capturedAt, isMismatch]) => ({ name, capturedAt, isMismatch }))
}

function imagesIn(name: string): string[] {
  if (corpus === undefined || corpus === '') return []
  const folder = join(corpus, name)
  return readdirSync(folder)
    .filter((file) => /\.(jpe?g|png|heic)$/i.test(file))
    .map((file) => join(folder, file))
}

function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path
}
