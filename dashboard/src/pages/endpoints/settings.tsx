// An endpoint is created, changed, disabled, given another secret, and deleted.

import type { EventSubscription, WebhookEndpoint } from '@countersign/client'
import { Alert, Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act, textOf } from '../../parts/act.tsx'
import { type ActField, listOf } from '../../parts/act-field.tsx'
import { Secret } from '../../parts/secret.tsx'
import { Time } from '../../parts/values.tsx'
import { useEventTypes } from '../events/types.ts'

const WRITE = 'webhooks.write'

function fieldsOf(types: readonly string[], endpoint?: WebhookEndpoint): ActField[] {
  return [
    {
      name: 'url',
      title: 'Address',
      about: 'An https address that takes POST requests',
      initial: endpoint?.url ?? '',
      isRequired: true,
      maxLength: 2_048,
    },
    {
      name: 'eventTypes',
      title: 'Events',
      kind: 'choices',
      values: [{ value: '*', label: '*: every type' }, ...types],
      initial: endpoint?.eventTypes.join(',') ?? '*',
      isRequired: true,
    },
    {
      name: 'description',
      title: 'Description',
      about: 'For people',
      initial: endpoint?.description ?? '',
      maxLength: 500,
    },
    {
      name: 'maxPerSecond',
      title: 'Most deliveries per second',
      about: 'Empty: no limit of its own',
      initial: `${endpoint?.maxPerSecond ?? ''}`,
    },
  ]
}

function settingsOf(values: Readonly<Record<string, string>>) {
  const rate = textOf(values.maxPerSecond)
  return {
    url: values.url?.trim() ?? '',
    eventTypes: listOf(values.eventTypes) as EventSubscription[],
    description: values.description ?? '',
    maxPerSecond: rate === undefined ? null : Number(rate),
  }
}

export function CreateEndpoint() {
  const { environment } = useSession()
  const types = useEventTypes()
  return (
    <Act
      title="Add an endpoint"
      permission={WRITE}
      name="endpoints.create"
      fields={fieldsOf(types)}
      send={(client, values, options) => client.webhooks.create(settingsOf(values), options)}
      result={({ signingSecret, webhookEndpointId }) => (
        <>
          <SigningSecret value={signingSecret} />
          <Link {...addressOf(environment, `endpoints/${webhookEndpointId}`)}>Open the endpoint</Link>
        </>
      )}
    />
  )
}

function SigningSecret({ value }: { value: string | undefined }) {
  return (
    <Secret
      title="Signing secret"
      value={value}
      about="Your program checks the signature of each delivery with it. It is shown once: keep it now."
    />
  )
}

export function Settings({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { webhookEndpointId: id, version, status, url } = endpoint
  const types = useEventTypes()
  const isEnabled = status === 'enabled'
  const ifMatch = `"${version}"`
  return (
    <>
      <Delete endpoint={endpoint} />
      <Act
        title={isEnabled ? 'Disable' : 'Enable'}
        permission={WRITE}
        name={`${id}.status`}
        isDangerous={isEnabled}
        about={
          isEnabled
            ? `${url} is sent nothing until it is enabled again. Deliveries that wait are cancelled.`
            : `${url} is sent events again, from now on.`
        }
        send={(client, _, options) =>
          client.webhooks.update(id, { status: isEnabled ? 'disabled' : 'enabled', ifMatch }, options)
        }
      />
      <Act
        title="Change"
        permission={WRITE}
        name={`${id}.${version}`}
        fields={fieldsOf(types, endpoint)}
        send={(client, values, options) => client.webhooks.update(id, { ...settingsOf(values), ifMatch }, options)}
      />
      <RotateSecret endpoint={endpoint} />
    </>
  )
}

const GRACES = [
  { value: '0', label: 'stops signing at once' },
  { value: '3600', label: 'signs for another hour' },
  { value: '86400', label: 'signs for another 24 hours' },
  { value: '604800', label: 'signs for another 7 days' },
]

function RotateSecret({
  endpoint: { webhookEndpointId: id, secretRotatedAt, createdAt },
}: {
  endpoint: WebhookEndpoint
}) {
  return (
    <Act
      title="Rotate the secret"
      permission={WRITE}
      name={`${id}.rotate`}
      about={
        <>
          The secret was made <Time at={secretRotatedAt ?? createdAt} />. Another one takes its place; meanwhile each
          delivery has a signature by both.
        </>
      }
      fields={[
        { name: 'grace', title: 'The old secret', kind: 'choice', values: GRACES, initial: '86400', isRequired: true },
      ]}
      send={(client, { grace }, options) => client.webhooks.rotateSecret(id, { graceSeconds: Number(grace) }, options)}
      result={({ signingSecret }) => <SigningSecret value={signingSecret} />}
    />
  )
}

function Delete({ endpoint: { webhookEndpointId: id, url } }: { endpoint: WebhookEndpoint }) {
  const { environment } = useSession()
  const navigate = useNavigate()
  return (
    <Act
      title="Delete"
      permission={WRITE}
      name={`${id}.delete`}
      isDangerous
      about={
        <Alert color="red" title="It is deleted permanently">
          <Text size="sm">{url} is sent nothing any more, and the deliveries that wait for it are cancelled.</Text>
        </Alert>
      }
      send={(client, _, options) => client.webhooks.delete(id, options)}
      onDone={() => void navigate(addressOf(environment, 'endpoints'))}
    />
  )
}
