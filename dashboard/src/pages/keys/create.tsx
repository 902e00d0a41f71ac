import type { CreateApiKeyRequest, GrantableScope, Product } from '@countersign/client'
import { useSession } from '../../app/session.tsx'
import { Act, textOf, timeOf } from '../../parts/act.tsx'
import { listOf } from '../../parts/act-field.tsx'
import { Secret } from '../../parts/secret.tsx'

const SCOPES: readonly { value: GrantableScope; label: string }[] = [
  { value: 'attest', label: 'attest: submit captures' },
  { value: 'verify', label: 'verify: read claims and their results' },
  { value: 'escalate', label: 'escalate: work on cases' },
  { value: 'screen', label: 'screen: screen media' },
  { value: 'intent', label: 'intent: authorize and verify actions of agents' },
  { value: 'admin', label: 'admin: keys, webhooks, devices and the account' },
]
const SANDBOX_SCOPES = [...SCOPES, { value: 'all', label: 'all: everything, in the sandbox only' }]

export function CreateKey() {
  const { session, environment } = useSession()
  return (
    <Act
      title="Create a key"
      permission="keys.manage"
      name="keys.create"
      about={`The key works in the ${environment} environment.`}
      fields={[
        { name: 'name', title: 'Name', about: 'The program that uses it', isRequired: true, maxLength: 200 },
        {
          name: 'scopes',
          title: 'Scopes',
          about: 'What the key may do. Each route takes one of them',
          kind: 'choices',
          values: environment === 'live' ? SCOPES : SANDBOX_SCOPES,
          isRequired: true,
        },
        {
          name: 'products',
          title: 'Products',
          about: 'Empty: the routes of every product',
          kind: 'choices',
          values: session.account.products,
        },
        { name: 'readOnly', title: 'It only reads', kind: 'flag' },
        {
          name: 'ipAllow',
          title: 'Addresses',
          about: 'Addresses or ranges from which it is accepted, such as 203.0.113.0/24. Empty: from everywhere',
        },
        { name: 'expiresAt', title: 'Expires', about: 'In your time zone. Empty: never', kind: 'time' },
      ]}
      send={(client, values, options) => client.account.keys.create(requestOf(values), options)}
      result={({ key, name }) => <Secret title={`API key “${name}”`} value={key} />}
    />
  )
}

function requestOf(values: Readonly<Record<string, string>>): CreateApiKeyRequest {
  const products = listOf(values.products)
  const addresses = listOf(values.ipAllow)
  return {
    name: values.name ?? '',
    scopes: listOf(values.scopes) as GrantableScope[],
    products: products.length === 0 ? undefined : (products as Product[]),
    readOnly: textOf(values.readOnly) === 'true' ? true : undefined,
    ipAllow: addresses.length === 0 ? undefined : addresses,
    expiresAt: timeOf(values.expiresAt),
  }
}
