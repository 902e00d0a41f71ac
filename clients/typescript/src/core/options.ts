// What a client and each of its calls can be told.

import type { Progress } from './watched.ts'

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** COUNTERSIGN_API_KEY when absent. */
  apiKey?: string | undefined
  /** The public address of the service, such as `https://api.example.com`. COUNTERSIGN_BASE_URL when absent. */
  baseUrl?: string | undefined
  /**
   * For pages that the service itself serves, in place of a key: cookies, the CSRF token and the environment are sent, which
   * `sandbox` and `live` name.
   */
  session?: { environment: 'sandbox' | 'live' } | undefined
  /** Milliseconds for each attempt. 30,000 when absent. */
  timeoutMs?: number | undefined
  /** Attempts after the first, 4 when absent. 0 tries once. */
  maxRetries?: number | undefined
  /** Whoever opens the page can read the key in it. */
  dangerouslyAllowBrowser?: boolean | undefined
  /** That of the platform when absent. */
  fetch?: Fetch | undefined
  /** For tests: from 0 up to 1. */
  random?: (() => number) | undefined
  /** For tests: waits between attempts. */
  sleep?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined
}

export interface CallOptions {
  /** Ends the call, whatever attempt it is at. */
  signal?: AbortSignal | undefined
  /** Makes repeating a change safe, also after this process ended. Each call has one of its own when absent. */
  idempotencyKey?: string | undefined
  /** Milliseconds for each attempt, in place of the client's. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  /** Further headers. */
  headers?: Record<string, string> | undefined
}

export interface UploadOptions extends CallOptions {
  /** Called as the bytes are sent, from 0 again for each attempt. */
  onProgress?: Progress | undefined
}

export interface Access {
  headers: Record<string, string>
  key: string | undefined
}

interface Platform {
  process?: { env?: Record<string, string | undefined>; versions?: { node?: string } }
  window?: { document?: unknown }
  WorkerGlobalScope?: unknown
  Deno?: unknown
}

/** A page or a worker of one: whoever uses it can read what it holds. */
export function isBrowser(): boolean {
  const { window, WorkerGlobalScope, process, Deno } = globalThis as Platform
  if (window?.document !== undefined) return true
  return typeof WorkerGlobalScope === 'function' && process?.versions?.node === undefined && Deno === undefined
}

export function readEnvironment(name: string): string | undefined {
  try {
    return (globalThis as Platform).process?.env?.[name]
  } catch {
    // Deno without the permission to read it.
    return undefined
  }
}

const LIVE_KEY = /^svc_live_/

/** @throws {TypeError} that says what is missing, and never the key. */
export function checkKey(apiKey: string | undefined, options: ClientOptions): string | undefined {
  if (options.session !== undefined) {
    if (options.apiKey !== undefined) throw new TypeError('give apiKey or session, not both')
    return undefined
  }
  if (apiKey === undefined || apiKey === '') return undefined
  // An exception about an invalid header would print it.
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('apiKey has characters that no API key has')
  if (LIVE_KEY.test(apiKey) && isBrowser() && options.dangerouslyAllowBrowser !== true) {
    throw new TypeError(
      'whoever opens this page could read the live key in it: call the service from a server, or set dangerouslyAllowBrowser',
    )
  }
  return apiKey
}

/** @throws {TypeError} */
export function checkBaseUrl(baseUrl: string | undefined): string {
  if (baseUrl === undefined || baseUrl === '') throw new TypeError('baseUrl (or COUNTERSIGN_BASE_URL) is missing')
  const url = new URL(baseUrl)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError('baseUrl is no address of http or https')
  if (url.username !== '' || url.password !== '') throw new TypeError('baseUrl must not hold a password')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
