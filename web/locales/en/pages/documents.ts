import { plural } from '../../plural.ts'

/** Holds the messages about what an organization is asked to sign. */
export const documentMessages = {
  title: 'Documents',
  lead: (organization: string) => `What apps ask ${organization} to sign.`,
  states: { waiting: 'Waiting', signed: 'Signed', all: 'All' },
  show: 'Which documents',
  empty: {
    waiting: {
      title: 'Nothing waits for a signature',
      what: 'When an app asks your organization to sign, members who may sign or approve find the text here.',
    },
    signed: {
      title: 'Nothing signed yet',
      what: 'What your organization has signed stays here, with its receipts.',
    },
    all: {
      title: 'No documents yet',
      what: 'Apps that your organization uses can ask it to sign. What they ask is listed here.',
    },
  },
  untitled: 'Text without a title',
  hidden: 'Only members who may sign or approve see the text',
  requestedAt: (time: string) => `requested ${time}`,
  left: (time: string) => `${time} left`,
  status: { pending: 'Waiting', signed: 'Signed', denied: 'Denied', expired: 'Expired' },
  signatures: 'Signatures',
  signaturesOf: (count: number, needed: number) =>
    plural('en', needed, {
      one: `${count} of 1 signature`,
      other: `${count} of ${needed} signatures`,
    }),
  whoMay: (signers: number, approvers: number, needed: number) =>
    needed === 0
      ? plural('en', signers, { one: '1 member may sign', other: `Any of ${signers} members may sign` })
      : `One of ${signers} signs, ${needed} of ${approvers} others approve`,
  did: { sign: 'Signed', approve: 'Approved' },
  open: { sign: 'Signature missing', approve: 'Approval missing' },
  missing: (count: number) => plural('en', count, { one: '1 approval', other: `${count} approvals` }),
  former: 'Former member',
  read: 'Read and sign',
  readAgain: 'Open',
  readOf: (title: string, app: string) => `Read and sign “${title}” from ${app}`,
  openOf: (title: string, app: string) => `Open “${title}” from ${app}`,
  receipt: 'Receipt',
  receiptOf: (title: string) => `Receipt of “${title}”`,
  columns: { title: 'Document', app: 'App', signatures: 'Signatures', ended: 'Date', status: 'Status' },
  more: 'Show more',
  retry: 'Try again',
}
