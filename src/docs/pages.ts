// The pages that are generated from the service's own tables, and the frame of the guides.

import { FAILURES, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { exampleProblem } from '#src/platform/http/openapi-problems.ts'
import type { Guide, Guides } from './guides.ts'
import { type Html, html, prose } from './html.ts'
import type { DocsPage } from './layout.ts'

/** `/docs/x`: one guide, between the one before and the one after it. */
export function guidePage(guide: Guide, guides: Guides): DocsPage {
  const { title, body, sections } = guides.render(guide)
  const all = guides.all()
  const at = all.indexOf(guide)
  const isDecision = at === -1
  const placeOf = (other: Guide | undefined) => other && { path: `/docs/${other.name}`, title: other.title }
  return {
    path: `/docs/${guide.name}`,
    title,
    body,
    contents: sections.filter(({ depth }) => depth === 2),
    previous: isDecision ? { path: '/docs/decisions', title: 'Decisions' } : placeOf(all[at - 1]),
    next: isDecision ? undefined : placeOf(all[at + 1]),
  }
}

/** `/docs`: which guides there are. */
export function overviewPage(guides: Guides): DocsPage {
  const body = html`<h1>Guides</h1>
<p class="lead">New here? Send <a href="docs/start/first-requests">the first requests</a>. Then build <a href="docs/attest/integrate">a capture
app in an hour</a>, or <a href="docs/authorize/authorize">guard a tool call</a> of an agent in half an hour. The rules that hold for all operations are in <a href="docs/reference/api">the interface</a>; each operation with its shapes
is in the <a href="docs/api-reference">API reference</a>.</p>
${guides.groups().map(
  ({ title, guides: listed }) => html`<h2>${title}</h2>
<ul class="cards">${listed.map(
    (guide) =>
      html`<li><a href="docs/${guide.name}"><strong>${guide.title}</strong><span>${leadOf(guide, guides)}</span></a></li>\n`,
  )}</ul>
`,
)}<p>The reasons for the design: <a href="docs/decisions">the decisions</a>.</p>
`
  return { path: '/docs', title: 'Guides', body }
}

/** `/docs/decisions`. */
export function decisionsPage(guides: Guides): DocsPage {
  const rows = guides.decisions().map(({ name, title }) => html`<li><a href="${name}">${title}</a></li>\n`)
  const body = html`<h1>Decisions</h1>
<p>Short records of design choices: what was chosen, why, and what was not.</p>
<ul>${rows}</ul>
`
  return { path: '/docs/decisions', title: 'Decisions', body }
}

/** `/docs/api-reference`. Until the script has drawn it, and where there is none, a table of all operations. */
export function referencePage(
  routes: readonly Route[],
  { notes, styles, scripts }: { notes: Notes } & Required<Pick<DocsPage, 'styles' | 'scripts'>>,
): DocsPage {
  const tags = [...new Set([...notes.tags.map(({ name }) => name), ...routes.map(({ tag }) => tag)])]
  const body = html`<div id="explorer"><div class="text">
<h1>API reference</h1>
<p>With JavaScript this page shows each operation with its shapes and examples, and sends requests with your key. Without
it, this page lists all operations; <a href="../v1/openapi.json">the OpenAPI document</a> has the shapes, for client generators too.</p>
<p>Send a key with each request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. A key has scopes, and each operation
requires the one that is named.</p>
${tags.map((tag) => tableOf(tag, { routes, notes }))}
</div></div>`
  return { path: '/docs/api-reference', title: 'API reference', body, isWide: true, styles, scripts }
}

/** `/docs/errors`: where `type` of every problem leads. */
export function errorsPage(baseUrl: string): DocsPage {
  const codes = (Object.keys(FAILURES) as FailureCode[]).sort((a, b) => FAILURES[a].status - FAILURES[b].status)
  const body = html`<h1>Errors</h1>
<p>Every answer that is not a success is a problem (RFC 9457, <code>application/problem+json</code>). <code>code</code> is
stable: let your program read it. <code>detail</code> is for people and may change. <code>errors</code>, where
it is there, names every finding at once. <code>request_id</code> is also the header <code>Request-Id</code>: include it when
you report a problem.</p>
<p>A fault of a capture is not an error: a bad signature or a missing position is a factor of a result with status 200.</p>
<div class="wide" tabindex="0"><table>
<thead><tr><th>Code</th><th>Status</th><th>What happened</th></tr></thead>
<tbody>
${codes.map(
  (code) => html`<tr><td class="name"><a href="#${code}"><code>${code}</code></a></td><td>${FAILURES[code].status}</td>
<td>${prose(guidanceOf(code).happened)}</td></tr>\n`,
)}</tbody>
</table></div>
${codes.map((code) => sectionOf(code, baseUrl))}`
  const contents = codes.map((code) => ({ anchor: code, text: code }))
  return { path: '/docs/errors', title: 'Errors', body, contents }
}

function tableOf(tag: string, { routes, notes }: { routes: readonly Route[]; notes: Notes }): Html {
  const rows = routes
    .filter((route) => route.tag === tag)
    .map(
      ({ method, path, summary, scope }) => html`<tr><td class="name"><code>${method} ${path}</code></td>
<td>${summary}</td><td class="name">${scope ?? html`<span class="quiet">no key</span>`}</td></tr>\n`,
    )
  if (rows.length === 0) return html``
  return html`<section><h2>${tag}</h2>
<p>${notes.tags.find(({ name }) => name === tag)?.description ?? ''}</p>
<div class="wide" tabindex="0"><table><thead><tr><th>Operation</th><th></th><th>Scope</th></tr></thead><tbody>
${rows}</tbody></table></div></section>
`
}

function sectionOf(code: FailureCode, baseUrl: string): Html {
  const { happened, remedy, repeat } = guidanceOf(code)
  const { status, title } = FAILURES[code]
  const example = JSON.stringify(exampleProblem(code, baseUrl), null, 2)
  return html`<section id="${code}">
<h2><code>${code}</code><a class="anchor" href="#${code}" aria-label="Link to this section">#</a></h2>
<dl>
<dt>Status</dt><dd>${status} ${title}</dd>
<dt>What happened</dt><dd>${prose(happened)}</dd>
<dt>What to do</dt><dd>${prose(remedy)}</dd>
<dt>Send it again?</dt><dd>${prose(repeat)}</dd>
</dl>
<div class="code"><pre tabindex="0"><code>${example}</code></pre></div>
</section>
`
}

const MAX_LEAD = 150

// The first sentence of a guide, cut to the length of a card.
function leadOf(guide: Guide, guides: Guides): string {
  const [first] = guides.render(guide).sections
  const sentence = /^.*?[.:](?=\s|$)/s.exec(first?.content ?? '')?.[0] ?? ''
  const text = sentence.replace(/:$/, '.')
  return text.length <= MAX_LEAD ? text : `${text.slice(0, MAX_LEAD).replace(/\s\S*$/, '')} …`
}
