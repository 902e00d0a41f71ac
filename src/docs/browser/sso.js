// Begins single sign-on, and finishes it where the identity provider leads back. Code and state leave the address at once: they
// must neither stay in the history nor get into a Referer.

import { fetchSession, readCsrfToken, send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const [message, begin, link, signin] = ['message', 'begin', 'link', 'signin'].map((id) => document.getElementById(id))
const returned = new URLSearchParams(window.location.search)
window.history.replaceState(null, '', window.location.pathname)

const [code, state, iss, refusal] = ['code', 'state', 'iss', 'error'].map((name) => returned.get(name) ?? undefined)
const isReturn = code !== undefined || refusal !== undefined

// Why the identity provider itself refuses (OpenID Connect 3.1.2.6, RFC 6749 4.1.2.1).
const REFUSALS = {
  access_denied: 'Your identity provider did not let you in: ask its administrator for access to this service.',
  login_required: 'Your identity provider wants you to sign in there first.',
  interaction_required: 'Your identity provider wants you to sign in there first.',
  consent_required: 'Your identity provider wants your consent, or that of its administrator.',
  temporarily_unavailable: 'Your identity provider is not available. Try again later.',
}
// What people can do about a refusal of this service, by its cause.
const ADVICE = {
  client_refused: 'The administrator has to renew the client secret.',
  code_refused: 'Begin again.',
  token_expired: 'Begin again. If it persists, the clock of the identity provider is wrong.',
  issued_at_out_of_bounds: 'If it persists, the clock of the identity provider is wrong.',
  email_missing: 'The administrator has to let the identity provider send the e-mail address.',
  email_unverified: 'Verify your address at the identity provider.',
  domain_mismatch: 'Use the account of your organization.',
  user_removed: 'Ask an administrator of your organization.',
  owner_not_linked: 'Sign in with a mailed link, then open this page again.',
  session_mismatch: 'Sign in again, and link your user again.',
  timeout: 'Try again later.',
  unreachable: 'Try again later.',
}

if (refusal !== undefined) await refuse(REFUSALS[refusal] ?? 'Your identity provider did not sign you in.')
else if (code !== undefined) await finish()
else await offer()

begin.addEventListener('submit', async (event) => {
  event.preventDefault()
  const given = begin.elements.domain.value.trim()
  const address = new URL('v1/auth/sso/start', root)
  address.searchParams.set('domain', given.slice(given.lastIndexOf('@') + 1))
  lead(await send(address, { headers: { Accept: 'application/json' } }))
})
link.addEventListener('submit', async (event) => {
  event.preventDefault()
  const address = new URL('v1/auth/sso/link', root)
  lead(await send(address, { method: 'POST', headers: { 'X-CSRF-Token': readCsrfToken() } }))
})

async function finish() {
  say('One moment …')
  const { ok, body } = await send(new URL('v1/auth/sso/callback', root), { method: 'POST', sent: { code, state, iss } })
  signin.hidden = false
  if (ok) return say(`You are signed in as ${body.user.email}, ${body.role} of ${body.account.name}.`)
  const isSpent = body.errors?.[0]?.pointer === '/state'
  await refuse(isSpent ? 'This login is over: it was used, is too old, or began in another browser.' : wordsOf(body))
}

function wordsOf({ detail, cause }) {
  return ADVICE[cause] === undefined ? detail : `${detail} ${ADVICE[cause]}`
}

async function refuse(text) {
  say(text)
  await offer()
}

async function offer() {
  const { ok } = isReturn ? { ok: false } : await fetchSession(root)
  link.hidden = !ok
  begin.hidden = ok
  signin.hidden = !ok && !isReturn
}

function lead({ ok, body }) {
  if (!ok) return say(wordsOf(body))
  window.location.assign(body.authorize_url)
}

function say(text) {
  message.hidden = false
  message.textContent = text
}
