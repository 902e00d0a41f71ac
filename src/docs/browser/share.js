// Shows a shared trace, and asks for what it masks. The token leaves the address at once: it must not stay in the history. The tab
// keeps it, with the request whose code is on its way, so that both are there after a reload. Labels of neurons and all other texts are set
// as text.

import { send } from './call.js'

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const MOST_LINKS = 50
const KEPT = 'countersign.share'
const [message, open, shared, facts, readings, graph, counts, links, ask, request, verify, again] = [
  'message',
  'open',
  'shared',
  'facts',
  'readings',
  'graph',
  'counts',
  'links',
  'ask',
  'request',
  'verify',
  'again',
].map((id) => document.getElementById(id))
let { token, requestId } = read()
let shareId

// Another link in the same tab changes the fragment alone.
window.addEventListener('hashchange', () => window.location.reload())
window.history.replaceState(null, '', window.location.pathname)
if (token !== undefined) {
  await load()
} else if (requestId === undefined) {
  say('This address is not a whole link. Open the link that you were given again.')
} else {
  keep()
  say('To enter the code of the mail, open the link of the share that you were given, or paste it here.')
  open.hidden = false
}

open.addEventListener('submit', async (event) => {
  event.preventDefault()
  token = tokenOf(open.elements.link.value.trim())
  if (token === undefined) return say('This is not a link of a share: it ends with # and 43 characters.')
  await load()
})
request.addEventListener('submit', async (event) => {
  event.preventDefault()
  const sent = { email: request.elements.email.value, purpose: request.elements.purpose.value }
  const { ok, body } = await call('POST', `v1/trace/shares/${shareId}/disclosure-requests`, sent)
  if (!ok) return say(body.detail)
  requestId = body.request_id
  keep()
  showForm()
  say('A code is on its way to you. It works for 15 minutes.')
})
verify.addEventListener('submit', async (event) => {
  event.preventDefault()
  const sent = { code: verify.elements.code.value }
  const { ok, body } = await call('POST', `v1/trace/shares/${shareId}/disclosure-requests/${requestId}/verify`, sent)
  if (!ok) return say(body.detail)
  ask.hidden = true
  requestId = undefined
  keep()
  say(
    body.status === 'granted'
      ? 'Granted: the mail that is on its way to you has a link of your own.'
      : 'Your request waits for a decision. If it is granted, you get a mail with a link of your own.',
  )
})

again.addEventListener('click', () => {
  requestId = undefined
  keep()
  showForm()
})

/** From the address, and from what the tab has kept. */
function read() {
  const { hash } = window.location
  const given = tokenOf(hash)
  const asked = /^#(dsr_(?:live|test)_[0-9a-z]{26})$/.exec(hash)?.[1]
  const kept = readKept()
  // The link of another share has nothing to do with the request.
  const isSame = given === undefined || kept.token === undefined || kept.token === given
  return { token: given ?? kept.token, requestId: asked ?? (isSame ? kept.requestId : undefined) }
}

function tokenOf(text) {
  return /#([A-Za-z0-9_-]{43})$/.exec(text)?.[1]
}

function readKept() {
  try {
    return JSON.parse(window.sessionStorage.getItem(KEPT) ?? '{}')
  } catch {
    return {}
  }
}

function keep() {
  try {
    window.sessionStorage.setItem(KEPT, JSON.stringify({ token, requestId }))
  } catch {
    // The browser keeps nothing: a reload begins anew.
  }
}

async function load() {
  const { ok, body } = await call('GET', 'v1/trace/shares/view')
  const isGone = !ok && body.code === 'not_found'
  if (isGone) token = undefined
  if (ok || isGone) keep()
  if (!ok) return say(isGone ? 'This link shows nothing: it has ended, or never was.' : body.detail)
  open.hidden = true
  show(body)
}

function showForm() {
  request.hidden = requestId !== undefined
  verify.hidden = requestId === undefined
}

function show({ share_id, expires_at, trace, masked_nodes: masked, disclosure, graph: shown, reveals_prompt }) {
  shareId = share_id
  addFacts([
    ['Trace', trace.trace_id],
    ['Model', trace.model_version_id ?? 'a model of its owner'],
    ['Traced', new Date(trace.created_at).toLocaleString()],
    ['Shown until', new Date(disclosure?.expires_at ?? expires_at).toLocaleString()],
    ['Masked neurons', String(masked)],
    ...(disclosure === null ? [] : [['Disclosed to you', disclosure.node_ids.join(', ')]]),
  ])
  readings.replaceChildren(
    ...(trace.canary?.readings ?? []).map(({ family, score, threshold, tripped }) =>
      itemOf(`${family}: ${score} (threshold ${threshold})${tripped ? ', tripped' : ''}`),
    ),
  )
  if (shown !== null) showGraph(shown, reveals_prompt)
  shared.hidden = false
  ask.hidden = masked === 0 || disclosure !== null
  showForm()
  if (ask.hidden || requestId === undefined) message.hidden = true
  else say('Enter the code of the mail, or ask for another one.')
}

function showGraph({ nodes, links: all }, hasPositions) {
  counts.textContent =
    `${nodes.length} nodes and ${all.length} links. ` +
    (hasPositions
      ? 'E_5 is the token at position 5 of the text, which is not shown. '
      : 'Neurons are those of the last position of the text; what is before it is one node for each message. ') +
    'A neuron is named by words at which it was most active.'
  const names = new Map(nodes.map(({ node_id: id, clerp }) => [id, clerp === '' ? id : `${clerp} (${id})`]))
  links.replaceChildren(
    ...all
      .toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
      .slice(0, MOST_LINKS)
      .map(({ source, target, weight }) =>
        itemOf(`${names.get(source)} → ${names.get(target)}: ${weight.toPrecision(4)}`),
      ),
  )
  graph.hidden = false
}

function addFacts(pairs) {
  facts.replaceChildren(
    ...pairs.flatMap(([name, value]) => [
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    ]),
  )
}

function itemOf(text) {
  return Object.assign(document.createElement('li'), { textContent: text })
}

function say(text) {
  message.hidden = false
  message.textContent = text
}

function call(method, path, sent) {
  return send(new URL(path, root), { method, sent, headers: { 'Share-Token': token }, credentials: 'omit' })
}
