// Requests of the pages for people without a session.

import { Countersign, CountersignError } from '@countersign/client'

/** With the cookies of the browser. */
export const visitor = new Countersign({ baseUrl: window.location.origin, session: { environment: 'sandbox' } })

/** Sends no cookies: the credential is the token of the share, and the session of the browser has no part in it. */
export const stranger = new Countersign({
  baseUrl: window.location.origin,
  session: { environment: 'sandbox' },
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
})

const AWAY = 'The service can not be reached. Try again.'

export function detailOf(error: unknown): string {
  return error instanceof CountersignError && error.status > 0 ? error.detail : AWAY
}

/** Whether the request was refused for the member at a pointer. */
export function isRefusedAt(error: unknown, pointer: string): boolean {
  return error instanceof CountersignError && error.errors[0]?.pointer === pointer
}

/** Set and cleared together with the session's cookie, which no script can read. */
export function readCsrfToken(): string | undefined {
  return /(?:^|; )svc_csrf=([A-Za-z0-9_-]+)/.exec(document.cookie)?.[1]
}

/** Who is signed in. Without the cookie the service is not asked: its 401 would be an error in the console. */
export async function readSession() {
  if (readCsrfToken() === undefined) return undefined
  try {
    return (await visitor.auth.session.retrieve()).session ?? undefined
  } catch (error) {
    // The session ended elsewhere. The next page need not ask again.
    if (error instanceof CountersignError && error.status === 401) {
      // biome-ignore lint/suspicious/noDocumentCookie: browsers of 2024 have no Cookie Store API
      document.cookie = 'svc_csrf=; Path=/; SameSite=Lax; Max-Age=0'
    }
    return undefined
  }
}

export interface Refusal {
  detail: string
  cause?: string
  errors?: readonly { pointer: string }[]
}

/** A request of single sign-on, whose answers lead a browser and are not in the library. */
export async function askSingleSignOn<Answer>(
  path: string,
  { sent, method = 'POST' }: { sent?: object; method?: 'GET' | 'POST' } = {},
): Promise<{ answer: Answer } | { refusal: Refusal }> {
  const token = readCsrfToken()
  try {
    const response = await fetch(`/v1/auth/sso/${path}`, {
      method,
      headers: {
        Accept: 'application/json',
        ...(sent !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { 'X-CSRF-Token': token }),
      },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    })
    const body = await response.json()
    return response.ok ? { answer: body as Answer } : { refusal: body as Refusal }
  } catch {
    return { refusal: { detail: AWAY } }
  }
}
