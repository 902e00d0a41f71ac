// The frame of every page: navigation by permission, the environment, search, the emergency stop and the account.

import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  SegmentedControl,
  Text,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { spotlight } from '@mantine/spotlight'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { CircleUser, Moon, OctagonX, Search, Sun } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { formatTime } from '../parts/measures.ts'
import { whileActive } from './activity.ts'
import type { EnvironmentName } from './client.ts'
import { EmergencyStop } from './emergency-stop.tsx'
import { KeyHelp } from './key-help.tsx'
import { Palette } from './palette.tsx'
import { sectionOf, sectionsFor } from './sections.ts'
import { useClient, useSession } from './session.tsx'
import { announceSession } from './session-end.ts'

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [isStopping, stopping] = useDisclosure()
  const [isHelpOpen, help] = useDisclosure()
  const { session, environment, may } = useSession()
  const client = useClient()
  const path = useLocation({ select: ({ pathname }) => pathname.split('/').slice(2).join('/') })
  const title = sectionOf(path)?.title
  const main = useRef<HTMLElement>(null)
  const { data: overview } = useQuery({
    queryKey: ['overview', environment],
    queryFn: () => client.overview.retrieve(),
    refetchInterval: whileActive(60_000),
  })
  useHotkeys([['shift+?', help.open]])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu and moves the focus to its text
  useEffect(() => {
    close()
    main.current?.focus({ preventScroll: true })
  }, [path])
  useEffect(() => {
    document.title = `${title ?? 'Countersign'} · ${environment}`
  }, [title, environment])

  const counts: Record<string, number | undefined> = {
    cases: overview?.cases?.mine?.count,
    approvals: overview?.approvals?.awaiting?.count,
  }
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <AppShell.Header className={environment === 'live' ? 'live-bar' : undefined}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Text fw={700} visibleFrom="sm">
              Countersign
            </Text>
            <Environment />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              variant="default"
              size="xs"
              leftSection={<Search size={14} />}
              onClick={spotlight.open}
              visibleFrom="sm"
            >
              Search{' '}
              <Text span size="xs" c="dimmed" ml="xs">
                Ctrl K
              </Text>
            </Button>
            <ActionIcon variant="default" hiddenFrom="sm" onClick={spotlight.open} aria-label="Search" size="md">
              <Search size={16} />
            </ActionIcon>
            {may('intents.stop') && (
              <Button
                size="xs"
                color="red"
                variant="light"
                leftSection={<OctagonX size={14} />}
                onClick={stopping.open}
              >
                Stop
              </Button>
            )}
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <ScrollArea component="nav" aria-label="Pages">
          {sectionsFor(may, session.account.products).map((group) => (
            <div key={group.title}>
              {group.title !== '' && (
                <Text size="xs" c="dimmed" px="sm" pt="sm" fw={600}>
                  {group.title}
                </Text>
              )}
              {group.sections.map((section) => (
                <NavLink
                  key={section.path}
                  component={Link}
                  to={`/${environment}/${section.path}`}
                  label={section.title}
                  active={path === section.path || path.startsWith(`${section.path}/`)}
                  rightSection={
                    (counts[section.path] ?? 0) > 0 ? (
                      <Badge size="sm" variant="light" circle={false}>
                        {counts[section.path]}
                      </Badge>
                    ) : undefined
                  }
                />
              ))}
            </div>
          ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="page" ref={main} tabIndex={-1} style={{ outline: 'none' }}>
        {overview?.stop?.stoppedAt != null && (
          <Alert color="red" mb="md" title="All agents of this environment are stopped" role="status">
            Since {formatTime(overview.stop.stoppedAt)}.{' '}
            {may('intents.stop') && (
              <Button size="compact-xs" variant="white" onClick={stopping.open}>
                Resume
              </Button>
            )}
          </Alert>
        )}
        <Outlet />
      </AppShell.Main>
      <Palette />
      <EmergencyStop isOpen={isStopping} onClose={stopping.close} stoppedAt={overview?.stop?.stoppedAt ?? null} />
      <KeyHelp isOpen={isHelpOpen} onClose={help.close} />
    </AppShell>
  )
}

/** Live is marked by its colour and its word. */
function Environment() {
  const { session, environment } = useSession()
  const navigate = useNavigate()
  return (
    <SegmentedControl
      size="xs"
      aria-label="Environment"
      value={environment}
      color={environment === 'live' ? 'red' : undefined}
      data={[
        { value: 'sandbox', label: 'Sandbox' },
        { value: 'live', label: 'Live', disabled: !session.environments.includes('live') },
      ]}
      onChange={(value) => void navigate({ to: `/${value as EnvironmentName}/overview` })}
    />
  )
}

function Account() {
  const { session } = useSession()
  const client = useClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = useMutation({
    mutationFn: () => client.auth.session.delete(),
    onSuccess: () => {
      announceSession()
      window.location.assign('/login/link')
    },
  })
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="default" size="md" aria-label="Account">
          <CircleUser size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session.user.email}
          <br />
          {session.role} of {session.account.name}
        </Menu.Label>
        <Menu.Item
          leftSection={colorScheme === 'dark' ? <Sun size={14} /> : <Moon size={14} />}
          onClick={() => setColorScheme(colorScheme === 'dark' ? 'light' : 'dark')}
        >
          {colorScheme === 'dark' ? 'Light theme' : 'Dark theme'}
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          Guides
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
