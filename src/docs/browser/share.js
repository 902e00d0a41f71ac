// Shows a shared trace, and asks for what it masks. The token leaves the address at once: it must not stay in the history.
// Labels of neurons and all other texts are set as text.

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const MOST_LINKS = 50
const [message, shared, facts, readings, graph, counts, links, ask, request, verify] = [
  'message',
  'shared',
  'facts',
  'readings',
  'graph',
  'counts',
  'links',
  'ask',
  'request',
  'verify',
].map((id) => document.getElementById(id))
const token = /^#([A-Za-z0-9_-]{43})$/.exec(window.location.hash)?.[1]
let shareId
let requestId

if (token === undefined) {
  say('This address is not a whole link. Open the link that you were given again.')
} else {
  window.history.replaceState(null, '', window.location.pathname)
  const { ok, body } = await call('GET', 'v1/trace/shares/view')
  if (ok) show(body)
  else say(body.code === 'not_found' ? 'This link shows nothing: it has ended, or never was.' : body.detail)
}

request.addEventListener('submit', async (event) => {
  event.preventDefault()
  const sent = { email: request.elements.email.value, purpose: request.elements.purpose.value }
  const { ok, body } = await call('POST', `v1/trace/shares/${shareId}/disclosure-requests`, sent)
  if (!ok) return say(body.detail)
  requestId = body.request_id
  request.hidden = true
  verify.hidden = false
  say('A code is on its way to you. It works for 15 minutes.')
})
verify.addEventListener('submit', async (event) => {
  event.preventDefault()
  const sent = { code: verify.elements.code.value }
  const { ok, body } = await call('POST', `v1/trace/shares/${shareId}/disclosure-requests/${requestId}/verify`, sent)
  if (!ok) return say(body.detail)
  ask.hidden = true
  say(
    body.status === 'granted'
      ? 'Granted: the mail that is on its way to you has a link of your own.'
      : 'Your request waits for a decision. If it is granted, you get a mail with a link of your own.',
  )
})

function show({ share_id, expires_at, trace, masked_nodes: masked, disclosure, graph: shown }) {
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
  if (shown !== null) showGraph(shown)
  shared.hidden = false
  ask.hidden = masked === 0 || disclosure !== null
}

function showGraph({ nodes, links: all }) {
  counts.textContent =
    `${nodes.length} nodes and ${all.length} links. E_5 is the token at position 5 of the text, which is not shown. ` +
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

async function call(method, path, sent) {
  try {
    const headers = { 'Share-Token': token, ...(sent !== undefined && { 'Content-Type': 'application/json' }) }
    const body = sent === undefined ? undefined : JSON.stringify(sent)
    const answer = await fetch(new URL(path, root), { method, headers, body, credentials: 'omit' })
    return { ok: answer.ok, body: await answer.json() }
  } catch {
    return { ok: false, body: { detail: 'The service can not be reached. Try again.' } }
  }
}
