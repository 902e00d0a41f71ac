// Lists, adds, names and removes the passkeys of the signed-in user. The service decides everything: this page only asks.

import { fetchSession, send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const [message, signin, own, list, none, add] = ['message', 'signin', 'own', 'passkeys', 'none', 'add'].map((id) =>
  document.getElementById(id),
)
let csrfToken

add.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = add.querySelector('button')
  button.disabled = true
  await register(add.elements.name.value)
  button.disabled = false
})
await start()

async function start() {
  const { ok, body } = await fetchSession(root)
  signin.hidden = false
  if (!ok) {
    signin.querySelector('a').textContent = 'Sign in'
    return say('Sign in to see your passkeys.')
  }
  csrfToken = body.csrf_token
  own.hidden = false
  say(`You are signed in as ${body.user.email}.`)
  await refresh()
}

async function refresh() {
  const { ok, body } = await call('GET', 'v1/passkeys?limit=100')
  if (!ok) return say(body.detail)
  none.hidden = body.data.length > 0
  list.replaceChildren(...body.data.map(itemOf))
}

async function register(name) {
  if (window.PublicKeyCredential?.parseCreationOptionsFromJSON === undefined) {
    return say('This browser is too old for passkeys, or this page is not opened over https.')
  }
  const begun = await call('POST', 'v1/passkeys/registration-options')
  if (!begun.ok) return say(begun.body.detail)
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.body.options)
  const { id: host } = begun.body.options.rp
  const credential = await navigator.credentials.create({ publicKey }).catch((error) => say(messageOf(error, host)))
  if (credential === undefined) return
  const { ok, body } = await call('POST', 'v1/passkeys/register', { name, response: credential.toJSON() })
  if (!ok) return say(body.detail)
  add.reset()
  say(`The passkey "${body.name}" can be used.`)
  await refresh()
}

function itemOf({ passkey_id: id, name, created_at: created, last_used_at: used, backed_up: isBackedUp }) {
  const item = Object.assign(document.createElement('li'), { className: 'passkey' })
  const form = document.createElement('form')
  const input = document.createElement('input')
  Object.assign(input, { type: 'text', value: name, maxLength: 100, required: true, autocomplete: 'off' })
  input.setAttribute('aria-label', 'Name of this passkey')
  const remove = buttonOf('Remove')
  form.append(input, ' ', buttonOf('Rename', 'submit'), ' ', remove)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    await act('PATCH', id, { name: input.value })
  })
  remove.addEventListener('click', () => {
    // The second press, on another button, removes it.
    const sure = buttonOf('Remove permanently')
    const keep = buttonOf('Keep')
    remove.replaceWith(sure, ' ', keep)
    sure.addEventListener('click', () => act('DELETE', id))
    keep.addEventListener('click', refresh)
  })
  const facts = document.createElement('small')
  facts.textContent = [
    `Added ${dateOf(created)}`,
    used === null ? 'never used' : `last used ${dateOf(used)}`,
    isBackedUp ? 'backed up by its provider' : 'on one device only',
  ].join(', ')
  item.append(form, facts)
  return item
}

async function act(method, id, sent) {
  const { ok, body } = await call(method, `v1/passkeys/${id}`, sent)
  say(ok ? (method === 'DELETE' ? 'The passkey is removed.' : 'The passkey has another name.') : body.detail)
  await refresh()
}

function buttonOf(text, type = 'button') {
  return Object.assign(document.createElement('button'), { textContent: text, type })
}

function dateOf(time) {
  return new Date(time).toLocaleString()
}

// Browsers don't tell a page whether the person or the device refused.
function messageOf(error, host) {
  if (error?.name === 'InvalidStateError') return 'This device has a passkey for you already.'
  if (error?.name === 'SecurityError') return `Open this page at the host ${host}: passkeys belong to it.`
  return 'No passkey was made: the device or you refused, or it took too long.'
}

function say(text) {
  message.hidden = false
  message.textContent = text
}

function call(method, path, sent) {
  return send(new URL(path, root), { method, sent, headers: { 'X-CSRF-Token': csrfToken } })
}
