import type { Passkey } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Id, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'
import { register } from './register.ts'

const page: ListPage<Passkey> = {
  title: 'Your passkeys',
  name: 'passkeys',
  permission: 'passkeys.own',
  about: 'With a passkey you confirm single actions, by face, finger or the lock of your device.',
  list: (client, query) => client.passkeys.list(query as object),
  idOf: ({ passkeyId }) => passkeyId,
  actions: <Register />,
  columns: [
    { name: 'name', title: 'Name', show: ({ name }) => name },
    { name: 'created', title: 'Added', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'used', title: 'Last used', show: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    {
      name: 'backup',
      title: 'Kept',
      show: ({ backedUp }) => (backedUp ? 'backed up by its provider' : 'on one device only'),
    },
    { name: 'id', title: 'Id', isHidden: true, show: ({ passkeyId }) => <Id id={passkeyId} /> },
  ],
  rowActions: (passkey) => <Actions passkey={passkey} />,
  empty: { sentence: 'You have no passkey yet. Add one on the device with which you confirm.' },
}

export const Page = () => <List page={page} />

const NAME = { name: 'name', title: 'Name', about: 'To tell it from others', isRequired: true, maxLength: 100 }

function Register() {
  return (
    <Act
      title="Add a passkey"
      permission="passkeys.own"
      name="passkeys.add"
      about="Your browser asks for the device next."
      fields={[NAME]}
      send={(client, { name = '' }, options) => register(client, name.trim(), options)}
    />
  )
}

function Actions({ passkey: { passkeyId, name } }: { passkey: Passkey }) {
  return (
    <>
      <Act
        title="Rename"
        permission="passkeys.own"
        name={`${passkeyId}.name`}
        isSmall
        fields={[{ ...NAME, initial: name }]}
        send={(client, values, options) => client.passkeys.update(passkeyId, { name: values.name ?? '' }, options)}
      />{' '}
      <Act
        title="Remove"
        permission="passkeys.own"
        name={`${passkeyId}.remove`}
        isSmall
        isDangerous
        about={`Nothing can be confirmed with “${name}” any more. Remove it from your device as well.`}
        send={(client, _, options) => client.passkeys.delete(passkeyId, options)}
      />
    </>
  )
}
