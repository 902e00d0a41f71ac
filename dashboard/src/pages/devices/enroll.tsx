// Enrolls a device by its certificate chain: as PEM, which people have, or as base64 of DER, which the API takes.

import { useNavigate } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Act, textOf } from '../../parts/act.tsx'

export function Enroll() {
  const { environment } = useSession()
  const navigate = useNavigate()
  return (
    <Act
      title="Enroll a device"
      permission="devices.write"
      name="devices.enroll"
      about="The same key again is the same device: nothing is enrolled twice."
      fields={[
        { name: 'name', title: 'Name', about: 'For people; no result depends on it', maxLength: 200 },
        {
          name: 'chain',
          title: 'Certificate chain',
          about: "PEM, or a line of base64 for each certificate; the device's own first, without the root",
          kind: 'area',
          isRequired: true,
        },
      ]}
      send={(client, { name, chain = '' }, options) =>
        client.devices.create({ name: textOf(name), certificateChain: certificatesIn(chain) }, options)
      }
      onDone={({ deviceId }) => void navigate(addressOf(environment, `devices/${deviceId}`))}
    />
  )
}

const PEM = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g

/** Base64 of each certificate in a text. What is no certificate is refused by the API. */
export function certificatesIn(text: string): string[] {
  const blocks = [...text.matchAll(PEM)].map(([, body = '']) => body.replaceAll(/\s/g, ''))
  return blocks.length > 0 ? blocks : text.split(/\s+/).filter((line) => line !== '')
}
