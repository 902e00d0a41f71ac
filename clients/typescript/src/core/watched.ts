// Uploads of browsers whose progress somebody watches: fetch tells nothing of it, XMLHttpRequest does.

/** `totalBytes` is undefined for a stream of unknown length. */
export type Progress = (progress: { sentBytes: number; totalBytes: number | undefined }) => void

// Answers without a body, for which Response takes none.
const EMPTY = [204, 304]

/** The part of it that is used here. Types of Node have none. */
interface Watchable {
  status: number
  response: unknown
  responseType: string
  withCredentials: boolean
  upload: { onprogress: (event: { loaded: number; total: number; lengthComputable: boolean }) => void }
  onload: () => void
  onerror: () => void
  onabort: () => void
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

/** As fetch: resolves with any status, rejects when there is no answer or the signal ends it. */
export function sendWatched(url: string, init: RequestInit, onProgress: Progress | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => Watchable }
    const request = new XMLHttpRequest()
    request.open(init.method ?? 'POST', url)
    request.responseType = 'arraybuffer'
    request.withCredentials = init.credentials === 'include'
    for (const [name, value] of Object.entries((init.headers ?? {}) as Record<string, string>)) {
      request.setRequestHeader(name, value)
    }
    request.upload.onprogress = ({ loaded, total, lengthComputable }) =>
      onProgress?.({ sentBytes: loaded, totalBytes: lengthComputable ? total : undefined })
    request.onload = () => {
      const body = EMPTY.includes(request.status) ? null : (request.response as ArrayBuffer)
      resolve(new Response(body, { status: request.status, headers: headersOf(request.getAllResponseHeaders()) }))
    }
    request.onerror = () => reject(new TypeError('the request failed'))
    request.onabort = () => reject(init.signal?.reason)
    init.signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(init.body)
  })
}

function headersOf(text: string): Headers {
  const headers = new Headers()
  for (const line of text.trim().split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}
