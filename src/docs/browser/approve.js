// Shows one approval with its whole action, and lets a signed-in person decide. The hashes are computed here, of exactly what
// is shown: what does not have the hashes of the token can't be approved on this page.

import { canonical, hashOf, treeOf, visible } from './action.js'
import { fetchSession, send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const names = [
  'message',
  'signin',
  'inbox',
  'waiting',
  'approval',
  'description',
  'payload',
  'proof',
  'facts',
  'votes',
  'decide',
  'needs',
  'refusal',
]
const [message, signin, inbox, waiting, article, description, payload, proof, facts, votes, form, needs, refusal] =
  names.map((id) => document.getElementById(id))
const buttons = [...form.querySelectorAll('button')]
const RETURN = 'countersign.return'
const READING_MS = 1_000
const PACE_MS = 2_000
const ENVIRONMENTS = { test: 'sandbox', live: 'live' }
const ENDS = {
  approved: 'The action may run.',
  denied: 'The action does not run.',
  expired: 'Not enough people decided in time. The action does not run.',
  cancelled: 'Its token, agent session or device was revoked. The action does not run.',
}
let csrfToken
let user
let role
// Number of the approval that is shown: a later approval ends what waits for this one.
let turn = 0
let shown
let mandate
let isActing = false
let reading

window.addEventListener('hashchange', start)
// A click that was meant for another window, which opened this one or lay above it, must decide nothing.
for (const event of ['focus', 'pageshow']) window.addEventListener(event, letRead)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  act(approve)
})
document.getElementById('deny').addEventListener('click', () => act(deny))
await start()

async function start() {
  turn += 1
  article.hidden = true
  inbox.hidden = true
  signin.hidden = true
  say('')
  refuse('')
  // Browsers compute hashes over https and on this machine alone.
  if (window.crypto.subtle === undefined)
    return say('Open this page over https: without it no browser computes hashes.')
  const wanted = wantedId()
  const answer = await fetchSession(root)
  if (!answer.ok) return say(reasonOf(answer))
  const { body } = answer
  csrfToken = body.csrf_token
  user = body.user
  role = body.role
  if (wanted === undefined) await showInbox()
  else await follow(wanted, turn)
}

function wantedId() {
  return /^#(apr_(?:test|live)_[0-9a-z]{26})$/.exec(window.location.hash)?.[1]
}

function remember(id) {
  try {
    const at = Date.now()
    window.localStorage.setItem(RETURN, JSON.stringify({ at, to: id === undefined ? 'approve' : `approve#${id}` }))
  } catch {
    // A browser that keeps nothing: the link of the mail leads here again.
  }
}

async function showInbox() {
  const found = await Promise.all(
    Object.values(ENVIRONMENTS).map((environment) =>
      call('GET', 'v1/approvals?status=pending&limit=100', { environment }),
    ),
  )
  // A session may reach one of the environments alone.
  const readable = found.filter(({ ok }) => ok)
  if (readable.length === 0) return say(reasonOf(found[0]))
  const data = readable.flatMap(({ body }) => body.data)
  const items = data.map((one) => {
    const link = Object.assign(document.createElement('a'), { href: `#${one.approval_id}` })
    link.append(visible(one.action_description))
    const item = document.createElement('li')
    item.append(link, ` (${wordOf(one.approval_id)}, until ${timeOf(one.expires_at)})`)
    return item
  })
  waiting.replaceChildren(...items)
  inbox.hidden = false
  say(data.length === 0 ? 'Nothing waits for a decision.' : '')
}

// Shows it, and again whenever it has changed.
async function follow(id, own) {
  for (let wait = 0; own === turn; wait = 25) {
    const askedAt = Date.now()
    const answer = await call('GET', `v1/approvals/${id}?wait=${wait}`, { environment: wordOf(id) })
    if (own !== turn) return
    if (!answer.ok) return say(reasonOf(answer))
    if (wait === 0) mandate = await mandateOf(answer.body)
    if (own !== turn) return
    await show(answer.body)
    if (answer.body.status !== 'pending') return
    // Where too many wait, the service answers at once.
    if (wait > 0 && Date.now() - askedAt < PACE_MS) await new Promise((resolve) => setTimeout(resolve, PACE_MS))
  }
}

async function mandateOf({ approval_id: id, mandate_id: mandateId }) {
  if (mandateId === null) return undefined
  const { ok, body } = await call('GET', `v1/mandates/${mandateId}`, { environment: wordOf(id) })
  return ok ? body : undefined
}

// The buttons work when a person has had the time to see what they are about.
function letRead() {
  clearTimeout(reading)
  reading = setTimeout(() => {
    reading = undefined
    enable()
  }, READING_MS)
  enable()
}

function enable() {
  for (const button of buttons) button.disabled = isActing || reading !== undefined
}

async function show(approval) {
  const isNew = shown?.approval_id !== approval.approval_id
  shown = approval
  if (isNew) {
    description.replaceChildren(visible(approval.action_description))
    payload.replaceChildren(treeOf(approval.action_payload))
    letRead()
  }
  const isGenuine = await showProof(approval)
  facts.replaceChildren(...factsOf(approval))
  votes.replaceChildren(...votesOf(approval))
  form.hidden = approval.status !== 'pending' || !isGenuine || !mayDecide(approval)
  needs.hidden = !approval.require_passkey
  document.getElementById('approve').textContent = approval.require_passkey ? 'Approve with a passkey' : 'Approve'
  article.hidden = false
  say(stateOf(approval))
}

async function showProof({ action_description: text, action_payload: object, action_hash, payload_hash }) {
  const [ofText, ofObject] = await Promise.all([hashOf(text), hashOf(canonical(object))])
  const isGenuine = ofText === action_hash && ofObject === payload_hash
  proof.classList.toggle('wrong', !isGenuine)
  proof.textContent = isGenuine
    ? `Computed here: the description has the hash ${ofText}, and the payload ${ofObject}. The token is bound to both.`
    : 'What is shown does not have the hashes of the token. Do not approve it, and tell the operator of the service.'
  return isGenuine
}

function factsOf(approval) {
  const { missing, roles, min_approvals: count, rules, rules_omitted: others } = approval
  const left = missing.map((one) => `${one.approvals} with the role ${one.roles.join(' or ')}`).join(', and ')
  const rows = [
    ['Environment', wordOf(approval.approval_id)],
    ['Agent', approval.agent_id ?? 'not registered'],
    ['Agent session', approval.agent_session_id],
    ['Device', approval.device_id],
    ['Asked for by', nameOf(approval.requested_by)],
    ['Mandate', approval.mandate_id],
    ['What the mandate is for', mandate?.description ?? null],
    ['Left of its budgets', leftOf(mandate)],
    ['Schedule', approval.schedule_id],
    ['Order of a clinician', approval.order_id],
    ...rules.map(({ rule_id, description: words }) => [
      'Rule of the policy',
      words === null ? rule_id : `${rule_id}: ${words}`,
    ]),
    ['Further rules of the policy', others === 0 ? '' : String(others)],
    ['Needed', `${count} with the role ${roles.join(' or ')}${approval.require_passkey ? ', with a passkey' : ''}`],
    ['Still missing', left],
    ['Expires', timeOf(approval.expires_at)],
    ['Token', approval.jti],
  ]
  return rows
    .filter(([, value]) => value !== null && value !== '')
    .flatMap(([name, value]) => {
      const [term, detail] = ['dt', 'dd'].map((tag) => document.createElement(tag))
      term.textContent = name
      detail.append(visible(value))
      return [term, detail]
    })
}

function leftOf(found) {
  if (found === undefined || found.remaining === null) return null
  const { remaining, status, budget, constraints } = found
  const currency = budget?.currency ?? constraints.currency ?? ''
  return `${remaining} ${currency}`.trim() + (status === 'active' ? '' : `; the mandate is ${status}`)
}

function votesOf({ decisions }) {
  const items = decisions.map(({ by, via, decision, comment, at }) => {
    const item = document.createElement('li')
    const how = via === 'passkey' ? ' with a passkey' : via === 'api_key' ? ' through an API key' : ''
    item.append(`${nameOf(by)}: ${decision === 'approve' ? 'approved' : 'denied'}${how}, ${timeOf(at)}. `)
    item.append(visible(comment ?? ''))
    return item
  })
  return items.length === 0 ? [Object.assign(document.createElement('li'), { textContent: 'None yet.' })] : items
}

function stateOf(approval) {
  const { status, roles, expires_at: end } = approval
  if (status !== 'pending') return `This approval is ${status}. ${ENDS[status] ?? ''}`
  const left = `for ${leftUntil(end)} more.`
  if (hasDecided(approval)) return `You have approved. It waits for others, ${left}`
  if (mayDecide(approval)) return `Waits for a decision, ${left}`
  return `Waits, ${left} People with the role ${roles.join(' or ')} decide; your role is ${role}.`
}

function leftUntil(end) {
  const minutes = Math.max(1, Math.ceil((Date.parse(end) - Date.now()) / 60_000))
  const [count, unit] =
    minutes < 120
      ? [minutes, 'minute']
      : minutes < 2_880
        ? [Math.floor(minutes / 60), 'hour']
        : [Math.floor(minutes / 1_440), 'day']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

// Not through a key: whether that counts depends on the policy and on the key, which only the service knows.
function hasDecided({ decisions }) {
  return decisions.some(({ by, via }) => by.id === user.user_id && via !== 'api_key')
}

// What the service would refuse is not offered. It decides what this page can't know.
function mayDecide(approval) {
  return approval.roles.includes(role) && !hasDecided(approval)
}

async function act(decide) {
  if (isActing || reading !== undefined) return
  isActing = true
  enable()
  refuse('')
  const answer = await decide(shown, form.elements.comment.value.trim())
  isActing = false
  enable()
  if (answer === undefined) return
  if (answer.status === 401) {
    say(reasonOf(answer))
    return signin.scrollIntoView({ block: 'center' })
  }
  if (!answer.ok) return refuse(reasonOf(answer))
  form.reset()
  await show(answer.body)
  message.scrollIntoView({ block: 'center' })
}

async function approve(approval, comment) {
  const { approval_id: id, require_passkey: needsPasskey } = approval
  const environment = wordOf(id)
  const sent = comment === '' ? {} : { comment }
  if (needsPasskey) {
    const begun = await call('POST', `v1/approvals/${id}/challenge`, { environment })
    if (!begun.ok) return begun
    if (window.PublicKeyCredential?.parseRequestOptionsFromJSON === undefined) {
      return refuse('This browser is too old for passkeys, or this page is not opened over https.')
    }
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.body.options)
      const credential = await navigator.credentials.get({ publicKey })
      sent.passkey_assertion = { challenge_id: begun.body.challenge_id, response: credential.toJSON() }
    } catch (error) {
      if (error?.name === 'SecurityError') {
        return refuse(`Open this page at the host ${begun.body.options.rpId}: passkeys belong to it.`)
      }
      return refuse(
        'No passkey confirmed it: there is none on this device, the device or you refused, or it took too long.',
      )
    }
  }
  return call('POST', `v1/approvals/${id}/approve`, { environment, sent })
}

async function deny({ approval_id: id }, reason) {
  if (reason === '') {
    form.elements.comment.focus()
    return refuse('Say why: a denial has a reason.')
  }
  return call('POST', `v1/approvals/${id}/deny`, { environment: wordOf(id), sent: { reason } })
}

function wordOf(id) {
  return ENVIRONMENTS[/^apr_(test|live)_/.exec(id)?.[1]] ?? 'sandbox'
}

function nameOf(actor) {
  if (actor === null) return ''
  return actor.id === user?.user_id ? 'You' : (actor.label ?? actor.id ?? 'The service')
}

function timeOf(text) {
  return new Date(text).toLocaleString()
}

function say(text) {
  message.hidden = text === ''
  message.textContent = text
}

// Beside the buttons: on a phone the top of the page is far away.
function refuse(text) {
  refusal.textContent = text
}

// Without a session it offers to sign in. The login page leads back here.
function reasonOf({ status, body }) {
  if (status !== 401) return body.detail
  signin.hidden = false
  remember(wantedId())
  return 'Sign in to see what waits for your decision.'
}

function call(method, path, { environment, sent } = {}) {
  const headers = { 'Service-Environment': environment, 'X-CSRF-Token': csrfToken }
  return send(new URL(path, root), { method, sent, headers })
}
