// Asks for a link, and signs in with one after a press of the button. The token leaves the address at once: it must not
// stay in the history.

import { fetchSession, send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const [message, confirm, request, shown, leave] = ['message', 'confirm', 'request', 'shown', 'leave'].map((id) =>
  document.getElementById(id),
)
// `&app`: the link of a terminal, which leads on to the dashboard once it has signed in.
let [, token, onward] = /^#([A-Za-z0-9_-]{43})(&app)?$/.exec(window.location.hash) ?? []
let csrfToken

if (token !== undefined) {
  window.history.replaceState(null, '', window.location.pathname)
  show(confirm)
} else {
  const { ok, body } = await fetchSession(root)
  if (ok) welcome(body)
  else show(request)
}

confirm.addEventListener('submit', use)
shown.addEventListener('submit', use)
request.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { ok, body } = await call('POST', 'v1/auth/magic-link', { email: request.elements.email.value })
  if (!ok) return show(request, body.detail)
  token = body.token
  if (token !== undefined) return show(shown, '')
  show(undefined, 'If the address can sign in here, a link is on its way. It works for 10 minutes.')
})
leave.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { ok, body } = await call('DELETE', 'v1/auth/session')
  show(request, ok ? 'You are signed out.' : body.detail)
})

async function use(event) {
  event.preventDefault()
  const { ok, body } = await call('POST', 'v1/auth/magic-link/verify', { token })
  if (ok) {
    welcome(body)
    if (onward !== undefined) window.location.assign(new URL('app/sandbox/overview', root))
    return
  }
  // A link that is asked for next leads nowhere by itself.
  onward = undefined
  const isSpent = body.errors?.[0]?.pointer === '/token'
  show(request, isSpent ? 'This link does not work any more. Ask for another one.' : body.detail)
}

function welcome({ user, account, role, csrf_token }) {
  csrfToken = csrf_token
  show(leave, `You are signed in as ${user.email}, ${role} of ${account.name}.`)
  leadBack()
}

// To the page that a person wanted to see before signing in, perhaps in another tab, and otherwise to the dashboard. To
// nowhere else: what is kept is compared with the forms of our addresses.
const DASHBOARD = /^app\/(?:sandbox|live)(?:\/[a-z0-9_-]+)*(?:\?[^#]{0,2000})?$/

function leadBack() {
  const back = document.getElementById('back')
  back.hidden = false
  try {
    const { at, to } = JSON.parse(window.localStorage.getItem('countersign.return') ?? '{}')
    window.localStorage.removeItem('countersign.return')
    if (!(Date.now() - at < 3_600_000)) return
    const link = back.querySelector('a')
    if (DASHBOARD.test(to)) {
      link.href = new URL(to, root).href
      link.textContent = 'Back to the dashboard'
    }
  } catch {
    // A browser that keeps nothing.
  }
}

function show(form, text = '') {
  for (const one of [confirm, request, shown, leave]) one.hidden = one !== form
  message.hidden = text === ''
  message.textContent = text
}

function call(method, path, sent) {
  return send(new URL(path, root), { method, sent, headers: { 'X-CSRF-Token': csrfToken } })
}
