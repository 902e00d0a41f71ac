// How a key ends: it is replaced, and works until its grace period is over, or it is revoked at once.

import type { ApiKey } from '@countersign/client'
import { Alert, Stack, Text } from '@mantine/core'
import { useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { Secret } from '../../parts/secret.tsx'
import { Id, Time } from '../../parts/values.tsx'

interface EndProps {
  apiKey: ApiKey
  isSmall?: boolean
}

const GRACES = [
  { value: '0', label: 'at once' },
  { value: '3600', label: 'after 1 hour' },
  { value: '86400', label: 'after 24 hours' },
]

export function Rotate({ apiKey: { apiKeyId, name, status }, isSmall = false }: EndProps) {
  if (status !== 'active') return null
  return (
    <Act
      title="Rotate"
      permission="keys.manage"
      name={`${apiKeyId}.rotate`}
      isSmall={isSmall}
      about={`Another key takes the place of “${name}”, with the same name, scopes and restrictions. Both work until the old one ends.`}
      fields={[
        {
          name: 'grace',
          title: 'The old key ends',
          kind: 'choice',
          values: GRACES,
          initial: '86400',
          isRequired: true,
        },
      ]}
      send={(client, { grace }, options) =>
        client.account.keys.rotate(apiKeyId, { gracePeriodSeconds: Number(grace) }, options)
      }
      result={({ key, predecessor }) => (
        <>
          <Secret title={`API key “${name}”`} value={key} />
          <Text size="sm">
            The old key ends <Time at={predecessor.graceExpiresAt ?? predecessor.revokedAt} />.
          </Text>
        </>
      )}
    />
  )
}

export function Revoke({ apiKey, isSmall = false }: EndProps) {
  const { environment } = useSession()
  const { apiKeyId, name, status, lastUsedAt } = apiKey
  if (status !== 'active' && status !== 'rotating') return null
  return (
    <Act
      title="Revoke"
      permission="keys.manage"
      name={`${apiKeyId}.revoke`}
      isSmall={isSmall}
      isDangerous
      about={
        <Alert color="red" title={`“${name}” is revoked permanently`}>
          Its next request is refused{environment === 'live' ? ', in the live environment' : ''}. It was last used{' '}
          <Time at={lastUsedAt} />.
        </Alert>
      }
      send={(client, _, options) => client.account.keys.revoke(apiKeyId, options)}
      result={({ keysCreated, invitesRevoked, warnings }) => (
        <Stack gap="xs">
          <Text size="sm">“{name}” is revoked.</Text>
          {invitesRevoked.length > 0 && (
            <Text size="sm">Invites that it sent are revoked: {invitesRevoked.length}.</Text>
          )}
          {keysCreated.length > 0 && (
            <Text size="sm" component="div">
              Keys that it created still work:{' '}
              {keysCreated.map((id) => (
                <Id key={id} id={id} />
              ))}
            </Text>
          )}
          {warnings.map(({ code, detail }) => (
            <Alert key={code} color="yellow">
              {detail}
            </Alert>
          ))}
        </Stack>
      )}
    />
  )
}
