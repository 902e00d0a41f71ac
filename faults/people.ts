// People beside the insurers' systems: they sign in by mailed links, upload an exclusion list, and have their account exported. What becomes of each
// of them goes to a journal.

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { leieFile } from '../test/support/exclusion-lists.ts'
import type { MailServer } from '../test/support/smtp.ts'
import { until } from '../test/support/until.ts'
import { clock, type Journal } from './journal.ts'

export interface People {
  /** Lets the person who is there finish. */
  stop(): Promise<void>
}

interface PeopleOptions {
  url: string
  mails: MailServer
  journal: Journal
  pauseMs: number
}

interface Call {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: object
  /** In place of a JSON body. */
  bytes?: Buffer
}

interface Answer {
  status: number
  setCookies: string[]
  bytes: Buffer
  json: Record<string, unknown>
}

// Longer than the slowest recovery.
const GIVE_UP_MS = 150_000
const ATTEMPT_TIMEOUT_MS = 45_000
const MAIL_WITHIN_MS = 60_000
// An address may ask five times in a quarter of an hour.
const REQUESTS = 4
// A few rows: what is tried is the upload and its job.
const LIST = leieFile([
  { LASTNAME: 'EXAMPLE', FIRSTNAME: 'ONE', EXCLDATE: '20150101' },
  { LASTNAME: 'EXAMPLE', FIRSTNAME: 'TWO', EXCLDATE: '20200101' },
])
const TOKEN = /\/login\/link#(\S{43})\s/

export function startPeople({ url, mails, journal, pauseMs }: PeopleOptions): People {
  const pool = new Pool(url, { headersTimeout: ATTEMPT_TIMEOUT_MS, bodyTimeout: ATTEMPT_TIMEOUT_MS })
  let isStopping = false
  let count = 0

  /** undefined: without an answer, which may have had its effect. */
  async function once({ method, path, headers = {}, body, bytes: raw }: Call): Promise<Answer | undefined> {
    try {
      const response = await pool.request({
        method,
        path,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        body: body === undefined ? (raw ?? null) : JSON.stringify(body),
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      })
      const bytes = Buffer.from(await response.body.arrayBuffer())
      const isJson = /json/.test(String(response.headers['content-type']))
      const cookies = response.headers['set-cookie'] ?? []
      return {
        status: response.statusCode,
        setCookies: [cookies].flat(),
        bytes,
        json: isJson ? JSON.parse(bytes.toString()) : {},
      }
    } catch {
      return undefined
    }
  }

  async function again(call: Call): Promise<Answer | undefined> {
    for (const giveUpAt = clock() + GIVE_UP_MS; clock() < giveUpAt; await delay(500)) {
      const answer = await once(call)
      if (answer === undefined || answer.status >= 500 || [408, 429].includes(answer.status)) continue
      if (answer.json.code !== 'idempotency_in_progress') return answer
    }
    return undefined
  }

  // Each has a network of their own: strangers of one network may not sign in by the dozen.
  async function signIn(email: string, from: Record<string, string>): Promise<Record<string, string> | undefined> {
    const tried = new Set<string>()
    const untried = () =>
      mails.received
        .filter(({ to }) => to.includes(email))
        .flatMap(({ parsed }) => TOKEN.exec(parsed.text ?? '')?.[1] ?? [])
        .find((token) => !tried.has(token))
    for (let request = 0; request < REQUESTS; request += 1) {
      await again({ method: 'POST', path: '/v1/auth/magic-link', headers: from, body: { email } })
      for (const until = clock() + MAIL_WITHIN_MS; clock() < until; await delay(200)) {
        const token = untried()
        if (token === undefined) continue
        tried.add(token)
        const call = { method: 'POST', path: '/v1/auth/magic-link/verify', headers: from, body: { token } } as const
        const answer = await once(call)
        // Without an answer the link may be used up.
        if (answer === undefined || answer.status >= 500) break
        if (answer.status !== 200) continue
        const cookie = answer.setCookies.map((line) => line.split(';')[0]).join('; ')
        return { ...from, cookie, 'x-csrf-token': String(answer.json.csrf_token) }
      }
    }
    return undefined
  }

  async function visit(): Promise<void> {
    count += 1
    const email = `person-${count}@faults.example`
    const headers = await signIn(email, { 'x-forwarded-for': `10.0.${count >> 8}.${count & 255}` })
    const visited = { kind: 'visited' as const, email, isSignedIn: headers !== undefined }
    const importId = headers === undefined ? null : await uploadList(headers)
    const exported = headers === undefined ? { exportId: null, sha256: null } : await haveExported(headers)
    journal.write({ ...visited, importId, ...exported, at: clock() })
  }

  async function uploadList(headers: Record<string, string>): Promise<string | null> {
    const own = { ...headers, 'service-environment': 'sandbox' }
    const request = { ...own, 'content-type': 'text/csv', 'idempotency-key': `list-${count}` }
    const path = '/v1/clinical/exclusion-lists/leie'
    const made = await again({ method: 'POST', path: `${path}/import`, headers: request, bytes: LIST })
    const importId = typeof made?.json.exclusion_import_id === 'string' ? made.json.exclusion_import_id : null
    if (importId === null) return null
    const hasEnded = async () => {
      const status = (await once({ method: 'GET', path: `/v1/clinical/exclusion-imports/${importId}`, headers: own }))
        ?.json.status
      return status === 'succeeded' || status === 'failed'
    }
    await until(hasEnded, { timeoutMs: GIVE_UP_MS, everyMs: 500 }).catch(() => {})
    return importId
  }

  async function haveExported(headers: Record<string, string>) {
    const request = { ...headers, 'idempotency-key': `export-${count}` }
    const made = await again({ method: 'POST', path: '/v1/account/export', headers: request, body: {} })
    const exportId = typeof made?.json.export_id === 'string' ? made.json.export_id : null
    const path = `/v1/account/exports/${exportId}`
    const hasEnded = async () => {
      const status = (await once({ method: 'GET', path, headers }))?.json.status
      return status === 'succeeded' || status === 'failed'
    }
    if (exportId === null) return { exportId, sha256: null }
    await until(hasEnded, { timeoutMs: GIVE_UP_MS, everyMs: 500 }).catch(() => {})
    const archive = await again({ method: 'GET', path: `${path}/download`, headers })
    if (archive?.status !== 200) return { exportId, sha256: null }
    return { exportId, sha256: createHash('sha256').update(archive.bytes).digest('hex') }
  }

  const visiting = (async () => {
    while (!isStopping) {
      await visit()
      await delay(pauseMs)
    }
  })()
  return {
    async stop() {
      isStopping = true
      await visiting
      await pool.close()
    },
  }
}
