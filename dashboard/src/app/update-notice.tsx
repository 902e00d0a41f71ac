// After an upgrade of the service the files of an older page are gone: the page asks to be loaded again.

import { Alert, Button, Center, Text } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'

export function UpdateNotice({ error }: ErrorComponentProps) {
  const message = error instanceof Error ? error.message : 'Something unexpected happened.'
  const isOutdated = /dynamically imported module|Importing a module script failed|error loading/i.test(message)
  return (
    <Center mih="60vh" p="md">
      <Alert
        color={isOutdated ? 'blue' : 'red'}
        title={isOutdated ? 'The dashboard was updated' : 'The page failed'}
        role="alert"
      >
        <Text size="sm" mb="sm">
          {isOutdated ? 'Load it again to go on. What you wrote is kept.' : message}
        </Text>
        <Button size="xs" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </Alert>
    </Center>
  )
}
