// The search of the pages, run as the browser runs it, over the index that the service serves.

import MiniSearch from 'minisearch'
import { stemmer } from 'stemmer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, startApp, type TestApp } from '../support/http.ts'

type Search = (text: string) => { entry: { path: string }; terms: string[] }[]

let app: TestApp
let search: Search
beforeAll(async () => {
  app = await startApp([])
  const { text } = await call(app, '/docs/search.json')
  const script = new URL('../../src/docs/browser/search.js', import.meta.url)
  search = (await import(script.href)).createSearch({ MiniSearch, stemmer }, JSON.parse(text))
})
afterAll(() => app.close())

const pathsOf = (text: string) => search(text).map(({ entry }) => entry.path)

describe('the search of the pages', () => {
  it('leads to the right page first, also by words that the text does not use', () => {
    const wanted = {
      pagination: 'docs/reference/api#lists',
      'getting started': 'docs/start/first-requests',
      gdpr: 'docs/reference/api#erasing-a-claim',
      webhok: 'docs/webhooks/webhooks',
      helm: 'docs/operate/deploy#containers',
      sdk: 'docs/attest/integrate#4-capture-upload-submit',
      docker: 'docs/operate/deploy#containers',
      429: 'docs/reference/api#rate-limits',
      adjuster: 'docs/attest/cases',
      'webhook signature': 'docs/webhooks/webhooks#verify',
    }
    const first = Object.fromEntries(Object.keys(wanted).map((text) => [text, pathsOf(text)[0]]))
    expect(first).toEqual(wanted)
  })

  it('finds words of one stem', () => {
    expect(pathsOf('approve')).toEqual(expect.arrayContaining(pathsOf('approvals').slice(0, 3)))
    expect(pathsOf('delegated mandates')[0]).toMatch(/^docs\/authorize\/mandates/)
  })

  it('falls back to near spellings, then to any of the words', () => {
    expect(pathsOf('scheduel')[0]).toMatch(/^docs\/authorize\/schedules/)
    expect(pathsOf('zebra schedules')[0]).toMatch(/schedules/)
    expect(pathsOf('qqqqqqqq')).toEqual([])
    expect(pathsOf('')).toEqual([])
  })
})
