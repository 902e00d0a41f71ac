// Sends a request of a page to the service. Where the service can't be reached, the answer has a sentence as its problems do.

export async function send(address, { method = 'GET', sent, headers = {}, credentials = 'same-origin' } = {}) {
  try {
    const typed = sent === undefined ? headers : { 'Content-Type': 'application/json', ...headers }
    const given = Object.entries(typed).filter(([, value]) => value !== undefined)
    const body = sent === undefined ? undefined : JSON.stringify(sent)
    const answer = await fetch(address, { method, headers: Object.fromEntries(given), body, credentials })
    return { ok: answer.ok, status: answer.status, body: await answer.json() }
  } catch {
    return { ok: false, status: 0, body: { detail: 'The service can not be reached. Try again.' } }
  }
}

const NO_SESSION = { ok: false, status: 401, body: { detail: 'Nobody is signed in.' } }

/** The token for X-CSRF-Token: its readable cookie is set and cleared together with the session's. */
export function readCsrfToken() {
  return /(?:^|; )svc_csrf=([A-Za-z0-9_-]+)/.exec(document.cookie)?.[1]
}

/** Who is signed in. Without the cookie the service is not asked: its 401 would be an error in the console. */
export async function fetchSession(root) {
  if (readCsrfToken() === undefined) return NO_SESSION
  const answer = await send(new URL('v1/auth/session', root))
  // The session ended elsewhere. The next page need not ask again.
  // biome-ignore lint/suspicious/noDocumentCookie: browsers of 2024 have no Cookie Store API
  if (answer.status === 401) document.cookie = 'svc_csrf=; Path=/; SameSite=Lax; Max-Age=0'
  return answer.ok ? { ...answer, body: answer.body.session } : answer
}
