// Draws the interface from this service's own document. Addresses are relative to this page, so that it works under any
// name, port and path by which somebody reaches it; the document's own server is where the public address leads.

const root = new URL('..', window.location.href)
if (window.matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')

const place = document.getElementById('explorer')

const answer = await fetch(new URL('v1/openapi.json', root))
if (!answer.ok) throw new Error(`the document could not be read: ${answer.status}`)
const spec = await answer.json()
spec.servers = [{ url: root.href.replace(/\/$/, '') }]

window.SwaggerUIBundle({
  spec,
  domNode: place,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  displayRequestDuration: true,
  filter: true,
  // A key stays in this tab, and goes with it.
  persistAuthorization: false,
  queryConfigEnabled: false,
  showMutatedRequest: false,
  validatorUrl: null,
})
