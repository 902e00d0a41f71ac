// The index of the pages' search: every section of every guide, every error code, every event, every operation. The
// browser loads it once, at the first search, and searches locally.

import { EVENT_TYPES, type EventType } from '#src/catalogue/events.ts'
import { FAILURES, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { createSlice } from '#src/platform/slices.ts'
import type { Guides } from './guides.ts'

/** What readers search for, where the text uses another word, by path. */
const WORDS: Record<string, string> = {
  'docs/reference/api#lists': 'pagination paging pages cursor limit',
  'docs/start/dashboard': 'dashboard adjuster browser screen user interface queue take next',
  'docs/start/first-requests': 'getting started start tutorial quickstart first steps',
  'docs/account/account': 'privacy personal data erasure export',
  'docs/reference/api#erasing-a-claim': 'gdpr delete personal data privacy',
  'docs/operate/deploy#containers': 'helm docker kubernetes k8s image compose',
  'docs/attest/integrate#4-capture-upload-submit': 'sdk client library',
  'docs/reference/api#rate-limits': '429 too many requests throttling quota',
  'docs/attest/cases': 'adjuster adjusters review queue',
  'docs/webhooks/webhooks': 'webhook webhooks callback notification',
  'docs/webhooks/webhooks#verify': 'webhook signature hmac secret',
}

interface Entry {
  /** Relative to the root of the service. */
  path: string
  page: string
  heading: string
  /** What readers search for and the text does not contain. */
  words: string
  text: string
}

/** Returns the index as JSON. It renders all guides, which takes most of half a second, in slices. */
export async function buildSearchIndex({ guides, routes }: { guides: Guides; routes: readonly Route[] }) {
  const entries: Omit<Entry, 'words'>[] = []
  const slice = createSlice()
  for (const guide of guides.all()) {
    if (slice.isOver()) await slice.next()
    for (const { text, anchor, content, depth } of guides.render(guide).sections) {
      const path = `docs/${guide.name}${depth === 1 ? '' : `#${anchor}`}`
      entries.push({ path, page: guide.title, heading: text, text: content })
    }
  }
  entries.push(
    ...(Object.keys(FAILURES) as FailureCode[]).map((code) => ({
      path: `docs/errors#${code}`,
      page: 'Errors',
      heading: code,
      text: `${FAILURES[code].status} ${guidanceOf(code).happened} ${guidanceOf(code).remedy}`,
    })),
    ...(Object.keys(EVENT_TYPES) as EventType[]).map((type) => ({
      path: `docs/events#${type}`,
      page: 'Events',
      heading: type,
      text: EVENT_TYPES[type].summary,
    })),
    ...routes
      .filter(({ path }) => path.startsWith('/v1/'))
      .map(({ method, path, summary, tag, operationId }) => ({
        path: `docs/api-reference#/${tag}/${operationId}`,
        page: 'API reference',
        heading: `${method} ${path.replaceAll(/:([a-z_]+)/g, '{$1}')}`,
        text: `${summary} ${operationId}`,
      })),
  )
  const missing = Object.keys(WORDS).filter((path) => !entries.some((entry) => entry.path === path))
  if (missing.length > 0) throw new Error(`There is no section for the search words of ${missing.join(', ')}`)
  return JSON.stringify(entries.map((entry): Entry => ({ ...entry, words: WORDS[entry.path] ?? '' })))
}
