// Single sign-on: the identity provider of the account, the proof of its domain, a test, and whether all have to use it.

import { NotFoundError, type SsoConfig } from '@countersign/client'
import { Alert, Badge, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { whileActive } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { CopyLine } from '../../parts/secret.tsx'
import { Status, Time } from '../../parts/values.tsx'
import { Facts, Part } from '../../recipe/detail-page.tsx'
import { Configure } from './configure.tsx'
import { TestSignIn } from './test-sign-in.tsx'

const REFRESH_MS = 15_000

export function Page() {
  const { may } = useSession()
  return <Stack>{may('sso.write') ? <Shown /> : <Forbidden permission="sso.write" />}</Stack>
}

function Shown() {
  const client = useClient()
  const query = useQuery({
    queryKey: ['sso'],
    queryFn: async () => {
      try {
        return await client.auth.sso.retrieve()
      } catch (error) {
        if (error instanceof NotFoundError) return null
        throw error
      }
    },
    // The test ends in another tab.
    refetchInterval: whileActive(REFRESH_MS),
  })
  const config = query.data
  return (
    <>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h3">
            Single sign-on
          </Title>
          <Text size="sm" c="dimmed">
            People sign in by the identity provider of your organization. <a href="/docs/account/sso">The guide</a> has
            the fields of each provider.
          </Text>
        </div>
        {config != null && (
          <Group gap="xs">
            <Remove config={config} />
            <Configure config={config} />
          </Group>
        )}
      </Group>
      {query.isPending && (
        <Stack role="status" aria-label="Loading">
          <Skeleton height={160} />
          <Skeleton height={120} />
        </Stack>
      )}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {config === null && <Unconnected />}
      {config != null && <Connected config={config} />}
    </>
  )
}

function Unconnected() {
  return (
    <Alert title="No identity provider is connected">
      <Text size="sm" mb="sm">
        Register this service at your provider as a web application with this redirect address, then connect it here.
      </Text>
      <CopyLine label="Redirect address" value={`${window.location.origin}/login/sso`} />
      <Group mt="sm">
        <Configure config={null} />
      </Group>
    </Alert>
  )
}

function Connected({ config }: { config: SsoConfig }) {
  const isVerified = config.domainStatus === 'verified'
  return (
    <>
      <Facts
        facts={[
          ['Issuer', config.issuer],
          ['Client', config.clientId],
          ['Client secret', `…${config.clientSecretLast4}`],
          ['Redirect address', <CopyLine key="redirect" label="Redirect address" value={config.redirectUri} />],
          ['Changed', <Time key="changed" at={config.changedAt} />],
          ['Changed by', <By key="by" actor={config.changedBy} />],
        ]}
      />
      <Part title="1. The domain">
        <Group gap="sm" mb="xs">
          <Text size="sm">{config.domain}</Text>
          <Status value={config.domainStatus} />
          <Text size="sm" c="dimmed" component="div">
            looked up <Time at={config.domainCheckedAt} />
          </Text>
        </Group>
        <Text size="sm" mb="xs">
          {isVerified
            ? 'This TXT record proves it. It has to stay: it is looked up daily.'
            : 'Set this TXT record at your name servers, then let it be looked up.'}
        </Text>
        <Facts
          facts={[
            ['Name', <CopyLine key="name" label="Name of the TXT record" value={config.domainRecord.name} />],
            ['Value', <CopyLine key="value" label="Value of the TXT record" value={config.domainRecord.value} />],
          ]}
        />
        <Group mt="xs">
          <Act
            title="Look it up now"
            permission="sso.write"
            name="sso.verify"
            about={`The TXT record of ${config.domainRecord.name} is looked up.`}
            send={(client, _, options) => client.auth.sso.verifyDomain(options)}
          />
        </Group>
      </Part>
      <Part title="2. A test">
        <Text size="sm" mb="xs" component="div">
          {config.testedAt === null ? (
            'Nobody has signed in by this provider yet.'
          ) : (
            <>
              The first sign-in by this provider was <Time at={config.testedAt} />.
            </>
          )}
        </Text>
        <TestSignIn config={config} />
      </Part>
      <Part title="3. For everybody">
        <Group gap="sm">
          <Badge color={config.enforceSso ? 'green' : 'gray'} variant="dot" tt="none">
            {config.enforceSso ? 'users of the domain sign in by it only' : 'mailed links work as well'}
          </Badge>
          <Text size="sm" c="dimmed">
            Owners keep their mailed links. “Change” sets it, after a test.
          </Text>
        </Group>
      </Part>
    </>
  )
}

function Remove({ config: { issuer } }: { config: SsoConfig }) {
  return (
    <Act
      title="Disconnect"
      permission="sso.write"
      name="sso.remove"
      isDangerous
      about={
        <Alert color="red" title={`${issuer} is disconnected`}>
          Users sign in by mailed links again, and are no longer linked to the provider. Sessions go on. All owners are
          told by mail.
        </Alert>
      }
      typed="disconnect"
      send={(client, _, options) => client.auth.sso.delete(options)}
    />
  )
}
