import { z } from 'zod'
import { pemOf } from '#src/platform/crypto/x509.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { idParams, visibleText } from '#src/platform/http/params.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { certificateView, toCertificateView } from './certificates.ts'
import { C2PA_ANCHORS, type CaPurpose, type CaRegistry, ROOT_CAS } from './registry.ts'
import type { CaRow } from './rows.ts'

// Each registration is its own component: a body has the name of its operation.
const requestOf = (noun: string) =>
  z
    .strictObject({
      name: visibleText(200),
      certificate: z
        .string()
        .min(1)
        .max(64 * 1024)
        .describe('PEM, or base64 of DER.'),
    })
    .meta({ id: `Create${noun}Request` })
const deletedViewOf = <Name extends string>(name: Name, id: string) =>
  z
    .object({ [name]: z.string(), deleted: z.literal(true) } as Record<Name, z.ZodString> & {
      deleted: z.ZodLiteral<true>
    })
    .meta({ id })
const fields = {
  name: z.string(),
  certificate: extended(certificateView, { pem: z.string() }, { id: 'PemCertificate' }),
  created_at: timestampView,
}

export function trustRoutes(rootCas: CaRegistry, c2paAnchors: CaRegistry): Route[] {
  return [
    ...registryRoutes(rootCas, ROOT_CAS, {
      view: z.object({ root_ca_id: z.string(), ...fields }).meta({ id: 'RootCa' }),
      noun: 'RootCa',
      group: 'devices.roots',
      toView: (row) => ({ root_ca_id: row.id, ...toFields(row) }),
      deletedView: deletedViewOf('root_ca_id', 'DeletedRootCa'),
      toDeleted: (id) => ({ root_ca_id: id, deleted: true as const }),
      register: 'Register a CA certificate (PEM, or base64 of DER) that device certificates may lead to',
      list: 'Root CAs, newest first',
      get: 'One root CA',
      remove: 'Stop trusting a root CA. Devices stay; new captures that lead to it raise cert_unknown_ca.',
    }),
    ...registryRoutes(c2paAnchors, C2PA_ANCHORS, {
      view: z.object({ c2pa_anchor_id: z.string(), ...fields }).meta({ id: 'C2paAnchor' }),
      noun: 'C2paAnchor',
      group: 'media.c2paAnchors',
      toView: (row) => ({ c2pa_anchor_id: row.id, ...toFields(row) }),
      deletedView: deletedViewOf('c2pa_anchor_id', 'DeletedC2paAnchor'),
      toDeleted: (id) => ({ c2pa_anchor_id: id, deleted: true as const }),
      register: 'Trust a CA certificate (PEM, or base64 of DER) that signers of C2PA manifests may lead to',
      list: 'Anchors of C2PA manifests, newest first',
      get: 'One anchor of C2PA manifests',
      remove: 'Stop trusting an anchor of C2PA manifests, for what is judged from then on',
    }),
  ]
}

interface Presentation<V extends z.ZodObject, D extends z.ZodObject> {
  /** In the client libraries. */
  group: 'devices.roots' | 'media.c2paAnchors'
  view: V
  toView(row: CaRow): z.input<V>
  deletedView: D
  toDeleted(id: string): z.input<D>
  /** Ends the operations' ids. */
  noun: string
  /** Summaries of the operations. */
  register: string
  list: string
  get: string
  remove: string
}

function registryRoutes<V extends z.ZodObject, D extends z.ZodObject>(
  registry: CaRegistry,
  { path, idType, actions }: CaPurpose,
  { view, toView, deletedView, toDeleted, noun, group, ...summaries }: Presentation<V, D>,
): Route[] {
  const common = { scope: 'admin' as const, status: [200] }
  const reading = { permission: 'devices.read' as const }
  const writing = { permission: 'devices.write' as const }
  const one = { ...common, path: `${path}/:id` as '/:id', params: idParams(idType) }
  return [
    endpoint(
      {
        ...common,
        ...writing,
        audits: actions.added,
        method: 'POST',
        path,
        operationId: `create${noun}`,
        sdk: `${group}.create`,
        effect: 'write',
        kind: 'call',
        summary: summaries.register,
        body: requestOf(noun),
        view,
      },
      async ({ caller, body, idempotencyKey }) => toView(await registry.register(caller, body, idempotencyKey)),
      async ({ caller }, id) => toView(await registry.get(caller, id)),
    ),
    listEndpoint(
      {
        ...common,
        ...reading,
        path,
        operationId: `list${noun}s`,
        sdk: `${group}.list`,
        summary: summaries.list,
        query: listQuery,
        item: view,
      },
      ({ caller, query }) => registry.list(caller, query),
      toView,
    ),
    endpoint(
      {
        ...one,
        ...reading,
        method: 'GET',
        operationId: `get${noun}`,
        sdk: `${group}.retrieve`,
        effect: 'read',
        kind: 'call',
        summary: summaries.get,
        view,
      },
      async ({ caller, params }) => toView(await registry.get(caller, params.id)),
    ),
    endpoint(
      {
        ...one,
        ...writing,
        audits: actions.removed,
        method: 'DELETE',
        operationId: `delete${noun}`,
        sdk: `${group}.delete`,
        effect: 'destructive',
        kind: 'call',
        summary: summaries.remove,
        view: deletedView,
      },
      async ({ caller, params, idempotencyKey }) => {
        await registry.remove(caller, params.id, idempotencyKey)
        return toDeleted(params.id)
      },
      async (_, id) => toDeleted(id),
    ),
  ]
}

function toFields({ name, certificate, createdAt }: CaRow) {
  return {
    name,
    certificate: { ...toCertificateView(certificate), pem: pemOf(certificate) },
    created_at: createdAt.toISOString(),
  }
}
