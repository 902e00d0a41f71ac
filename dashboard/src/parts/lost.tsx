import { Alert, Center } from '@mantine/core'

export function Lost() {
  return (
    <Center mih="60vh" p="md">
      <Alert title="There is no such page">
        <a href="/app">Go to the overview</a>
      </Alert>
    </Center>
  )
}
