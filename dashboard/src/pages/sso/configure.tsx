import type { SsoConfig } from '@countersign/client'
import { Act, textOf } from '../../parts/act.tsx'

/** @param config null where no provider is connected. */
export function Configure({ config }: { config: SsoConfig | null }) {
  return (
    <Act
      title={config === null ? 'Connect a provider' : 'Change'}
      permission="sso.write"
      name={`sso.${config?.version ?? 0}`}
      about={
        config === null
          ? 'The discovery document of the issuer is read at once.'
          : 'Another issuer, client or domain ends the test and the requirement to use it, and all owners are told by mail.'
      }
      fields={[
        {
          name: 'issuer',
          title: 'Issuer',
          about: 'As in its discovery document, to the last slash',
          initial: config?.issuer ?? '',
          isRequired: true,
          maxLength: 1_000,
        },
        { name: 'clientId', title: 'Client', initial: config?.clientId ?? '', isRequired: true, maxLength: 500 },
        {
          name: 'clientSecret',
          title: 'Client secret',
          about: config === null ? 'It is not shown again' : 'Empty: it stays as it is',
          kind: 'secret',
          isRequired: config === null,
          maxLength: 2_000,
        },
        {
          name: 'domain',
          title: 'Domain',
          about: 'The domain of the e-mail addresses of your organization',
          initial: config?.domain ?? '',
          isRequired: true,
          maxLength: 255,
        },
        ...(config === null
          ? []
          : [
              {
                name: 'enforceSso',
                title: 'Users of the domain sign in by it only',
                about: 'Their other sessions end. It takes a test before',
                kind: 'flag' as const,
                initial: config.enforceSso ? 'true' : '',
              },
            ]),
      ]}
      send={(client, { issuer = '', clientId = '', clientSecret, domain = '', enforceSso }, options) =>
        client.auth.sso.update(
          {
            issuer: issuer.trim(),
            clientId: clientId.trim(),
            clientSecret: textOf(clientSecret),
            domain: domain.trim(),
            enforceSso: enforceSso === 'true',
            ifMatch: config === null ? undefined : `"${config.version}"`,
          },
          options,
        )
      }
    />
  )
}
