// Shows one approval with its whole action, and lets a signed-in person decide. The hashes are computed here, of exactly what
// is shown: what does not have the hashes of the token can't be approved on this page.

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const { canonical, hashOf, treeOf, visible } = await import(
  new URL(document.querySelector('[data-action]').dataset.action, root)
)
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
]
const [message, signin, inbox, waiting, article, description, payload, proof, facts, votes, form] = names.map((id) =>
  document.getElementById(id),
)
const buttons = [...form.querySelectorAll('button')]
const RETURN = 'countersign.return'
const READING_MS = 1_000
const PACE_MS = 2_000
const ENVIRONMENTS = { test: 'sandbox', live: 'live' }
let csrfToken
let user
let people = new Map()
// Of the approval that is shown: a later one ends what waits for it.
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
  say('')
  const wanted = wantedId()
  const { ok, body } = await call('GET', 'v1/auth/session')
  signin.hidden = ok
  if (!ok) {
    // The login page leads back here.
    remember(wanted)
    return say('Sign in to see what waits for your decision.')
  }
  csrfToken = body.csrf_token
  user = body.user
  const team = await call('GET', 'v1/org/users?limit=100')
  if (team.ok) people = new Map(team.body.data.map((one) => [one.user_id, one.email]))
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
  const data = found.flatMap(({ ok, body }) => (ok ? body.data : []))
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
    const { ok, body } = await call('GET', `v1/approvals/${id}?wait=${wait}`, { environment: wordOf(id) })
    if (own !== turn) return
    if (!ok) return say(body.detail)
    if (wait === 0) mandate = await mandateOf(body)
    if (own !== turn) return
    await show(body)
    if (body.status !== 'pending') return
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
  form.hidden = approval.status !== 'pending' || !isGenuine
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
  const { missing, roles, min_approvals: count, rules } = approval
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
    ...rules.map(({ rule_id, description: words }) => [
      'Rule of the policy',
      words === null ? rule_id : `${rule_id}: ${words}`,
    ]),
    ['Wanted', `${count} of: ${roles.join(', ')}${approval.require_passkey ? ', each with a passkey' : ''}`],
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

function stateOf({ status, expires_at: end }) {
  if (status !== 'pending') return `This approval is ${status}.`
  const minutes = Math.max(0, Math.ceil((Date.parse(end) - Date.now()) / 60_000))
  return `Waits for a decision, for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}.`
}

async function act(decide) {
  if (isActing || reading !== undefined) return
  isActing = true
  enable()
  const answer = await decide(shown, form.elements.comment.value.trim())
  isActing = false
  enable()
  if (answer === undefined) return
  if (!answer.ok) return say(answer.body.detail)
  form.reset()
  await show(answer.body)
}

async function approve(approval, comment) {
  const { approval_id: id, require_passkey: needsPasskey } = approval
  const environment = wordOf(id)
  const sent = comment === '' ? {} : { comment }
  if (needsPasskey) {
    const begun = await call('POST', `v1/approvals/${id}/challenge`, { environment })
    if (!begun.ok) return begun
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.body.options)
      const credential = await navigator.credentials.get({ publicKey })
      sent.passkey_assertion = { challenge_id: begun.body.challenge_id, response: credential.toJSON() }
    } catch {
      return say('No passkey confirmed it: the device or you refused, or it took too long.')
    }
  }
  return call('POST', `v1/approvals/${id}/approve`, { environment, sent })
}

async function deny({ approval_id: id }, reason) {
  if (reason === '') return say('Say why: a denial has a reason.')
  return call('POST', `v1/approvals/${id}/deny`, { environment: wordOf(id), sent: { reason } })
}

function wordOf(id) {
  return ENVIRONMENTS[/^apr_(test|live)_/.exec(id)?.[1]] ?? 'sandbox'
}

function nameOf(id) {
  if (id === null) return ''
  return id === user?.user_id ? 'You' : (people.get(id) ?? id)
}

function timeOf(text) {
  return new Date(text).toLocaleString()
}

function say(text) {
  message.hidden = text === ''
  message.textContent = text
}

async function call(method, path, { environment, sent } = {}) {
  try {
    const headers = {
      ...(sent !== undefined && { 'Content-Type': 'application/json' }),
      ...(environment !== undefined && { 'Service-Environment': environment }),
      ...(csrfToken !== undefined && { 'X-CSRF-Token': csrfToken }),
    }
    const body = sent === undefined ? undefined : JSON.stringify(sent)
    const answer = await fetch(new URL(path, root), { method, headers, body, credentials: 'same-origin' })
    return { ok: answer.ok, body: await answer.json() }
  } catch {
    return { ok: false, body: { detail: 'The service can not be reached. Try again.' } }
  }
}
