import type { WebhookFault } from '@countersign/protocol/clients/webhooks'
import { plural } from '../../../../plural.ts'

/** Holds the messages about the webhooks of the service, for operators. */
export const adminWebhooksMessages = {
  title: 'Webhooks',
  about: 'Programs that receive events of all people and groups, without names and addresses.',
  none: 'No webhook yet',
  add: 'Add webhook',
  addNow: 'Add',
  added: 'The webhook gets the events from now on.',
  url: 'Address',
  urlHint: 'Begins with https://',
  urlRefused: 'This address cannot be used. It must be public, or listed in OUTBOUND_NETWORKS.',
  events: 'Events',
  selections: {
    all: { label: 'All', about: 'Also of types that are added later.' },
    people: { label: 'People', about: 'Created, changed, suspended, activated, deleted.' },
    groups: { label: 'Groups', about: 'Created, changed, deleted, and who joins or leaves.' },
  },
  secret: 'Secret of the webhook',
  secretWhat: 'Requests are signed with it. Store it now: it is not shown again.',
  secretCopied: 'the secret',
  stored: 'I have stored it',
  disabled: 'Disabled',
  sent: (moment: string) => `Last attempt ${moment}`,
  neverSent: 'Nothing sent yet',
  gets: (count: number) =>
    count === 0 ? 'all events' : plural('en', count, { one: '1 type of event', other: `${count} types of events` }),
  answered: (status: number) => `Answer ${status}`,
  faults: {
    could_not_connect: 'No connection',
    timed_out: 'No answer',
    app_disabled: 'Disabled',
    not_signed: 'Secret lost',
  } satisfies Readonly<Record<WebhookFault, string>>,
  actions: (host: string) => `Actions for ${host}`,
  test: {
    open: 'Test',
    title: (host: string) => `Test ${host}`,
    what: 'Sends one event at once. If it does not arrive, it is sent again later.',
    now: 'Send',
    arrived: 'The event arrived.',
    failed: (fault: string) => `It did not arrive: ${fault}.`,
  },
  disable: {
    open: 'Disable',
    title: (host: string) => `Disable ${host}?`,
    what: 'It gets no events of this time, also not later.',
    done: 'The webhook is disabled.',
  },
  enable: {
    open: 'Enable',
    title: (host: string) => `Enable ${host}?`,
    what: 'It gets the events from now on.',
    done: 'The webhook gets events again.',
  },
  rotate: {
    open: 'New secret',
    title: (host: string) => `New secret for ${host}?`,
    what: 'The present secret also signs for a day.',
    done: 'The new secret signs from now on.',
  },
  remove: {
    open: 'Remove',
    title: (host: string) => `Remove ${host}?`,
    what: 'It gets no further events, and its deliveries are deleted. The owners get a mail.',
    done: 'The webhook was removed.',
  },
}
