// Accepts an invite after a press of the button. The token leaves the address at once: it must not stay in the history.

import { readCsrfToken, send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const [message, form, close, signin] = ['message', 'accept', 'close', 'signin'].map((id) => document.getElementById(id))
const token = /^#([A-Za-z0-9_-]{43})$/.exec(window.location.hash)?.[1]

if (token === undefined) {
  say('This address is not a whole link. Open the link of the mail again.')
} else {
  window.history.replaceState(null, '', window.location.pathname)
  form.hidden = false
}

form.addEventListener('submit', (event) => accept(event, { token }))
close.addEventListener('submit', (event) => accept(event, { token, close_own_account: true }))

async function accept(event, sent) {
  event.preventDefault()
  const address = new URL('v1/org/invites/accept', root)
  const { ok, body } = await send(address, { method: 'POST', sent, headers: { 'X-CSRF-Token': readCsrfToken() } })
  if (ok) return end(`You are signed in as ${body.user.email}, ${body.role} of ${body.account.name}.`)
  const [finding] = body.errors ?? []
  if (finding?.pointer === '/token') return end('This invite does not work any more. Ask for another one.')
  // Without the invite's use: another try may succeed.
  close.hidden = finding?.code !== 'confirmation_required'
  form.hidden = !close.hidden
  say(close.hidden ? body.detail : 'You own another account.')
  signin.hidden = false
}

function end(text) {
  form.hidden = true
  close.hidden = true
  signin.hidden = false
  say(text)
}

function say(text) {
  message.hidden = false
  message.textContent = text
}
