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
