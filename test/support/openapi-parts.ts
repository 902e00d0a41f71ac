// Parts of the OpenAPI document that the page of the API reference draws in seconds; the whole document takes it minutes.

export interface OpenApi {
  paths: Record<string, Record<string, { operationId: string; requestBody?: object }>>
}

/** Operations of one page: a page redraws all of its operations when one is opened. */
const PER_PAGE = 20

/** The operations that take a body, without what they answer: to render all answers takes the page minutes. */
export function bodiesOf(whole: OpenApi): { document: OpenApi; ids: string[] }[] {
  const all = Object.entries(whole.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.requestBody === undefined ? [] : [{ path, method, operation }],
    ),
  )
  return Array.from({ length: Math.ceil(all.length / PER_PAGE) }, (_, page) => {
    const shown = all.slice(page * PER_PAGE, (page + 1) * PER_PAGE)
    const paths: OpenApi['paths'] = {}
    for (const { path, method, operation } of shown) {
      const withoutAnswers = { ...operation, responses: { 204: { description: 'Nothing' } } }
      paths[path] = { ...paths[path], [method]: withoutAnswers as never }
    }
    const document = { ...whole, webhooks: {}, paths, components: componentsOf(whole, paths) } as OpenApi
    return { document, ids: shown.map(({ operation }) => operation.operationId) }
  })
}

type Components = Record<string, Record<string, unknown>>

// The page resolves every component anew for each operation that is opened.
export function componentsOf(whole: OpenApi, paths: OpenApi['paths']): Components {
  const { components } = whole as unknown as { components: Components }
  const kept: Components = { securitySchemes: components.securitySchemes ?? {} }
  const keep = (part: unknown) => {
    for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const component = components[kind]?.[name]
      if (kept[kind]?.[name] !== undefined || component === undefined) continue
      kept[kind] = { ...kept[kind], [name]: component }
      keep(component)
    }
  }
  keep(paths)
  return kept
}
