/** The help pages: which documents of `docs/` they show, and in which order. */
export type Section = { title: string; folder?: string; documents: string[] }

/**
 * Sections of the left navigation. A document is a path in `docs/` without `.md`. One that is not listed is added to
 * the section of its folder, so that no guide is missing.
 */
const sections: Section[] = [
  { title: 'Your account', folder: 'help', documents: ['help/account-recovery', 'help/key-alarm'] },
  {
    title: 'Add sign-in to an app',
    folder: 'guides',
    documents: [
      ...['concepts', 'guides/sign-in-with-node', 'guides/sign-in-with-express', 'guides/sign-in-with-fastify'],
      ...['guides/sign-in-with-nextjs', 'guides/sign-in-with-vite', 'guides/fedcm-sign-in', 'guides/connect-an-app'],
      ...['guides/webhooks', 'guides/back-channel-logout'],
    ],
  },
  {
    title: 'Signatures, APIs, encryption',
    folder: 'reference',
    documents: [
      ...['guides/request-a-signature', 'guides/create-signing-keys', 'reference/signing-page'],
      ...['guides/request-delegated-access', 'guides/protect-a-resource', 'guides/mcp'],
      ...['guides/organization-context', 'guides/end-to-end-encryption'],
    ],
  },
  {
    title: 'Organizations',
    documents: [
      ...['guides/organizations', 'guides/organization-keys', 'guides/verify-a-domain'],
      ...['guides/connect-an-openid-provider', 'guides/connect-a-saml-provider', 'guides/scim-provisioning'],
    ],
  },
  {
    title: 'Run the service',
    folder: 'operations',
    documents: [
      ...['operations/deployment', 'operations/docker', 'operations/kubernetes', 'operations/settings'],
      'operations/observability',
      ...['operations/registration', 'operations/operators', 'operations/console', 'operations/people'],
      ...['operations/suspension', 'operations/deletion', 'operations/groups', 'operations/audit'],
      ...['operations/scaling', 'operations/high-availability', 'operations/keys', 'operations/backup'],
      'operations/upgrade',
    ],
  },
  {
    title: 'Security and evidence',
    folder: 'security',
    documents: [
      ...['security/threat-model', 'security/end-to-end-encryption', 'security/key-transparency', 'security/trust'],
      ...['security/saml', 'security/growth', 'security/dependencies', 'conformance', 'benchmarks'],
    ],
  },
]

/** Tables for those who read the source: long lists with links into the repository. */
const omitted = /^(?:README|decisions\/.*|security\/(?:cases|reviews\/.*))$/

/** Returns the sections with all of the given documents. Throws if a listed one does not exist. */
export function arrangeDocuments(existing: readonly string[]): Section[] {
  const missing = sections.flatMap(({ documents }) => documents).filter((each) => !existing.includes(each))
  if (missing.length > 0) throw new Error(`web/help/contents.ts lists ${missing.join(', ')}, which docs/ does not have`)
  const listed = new Set(sections.flatMap(({ documents }) => documents))
  const others = existing.filter((each) => !listed.has(each) && !omitted.test(each)).toSorted()
  return sections.map((section) => {
    const { folder } = section
    const added = others.filter((each) => each.split('/')[0] === folder)
    return { ...section, documents: [...section.documents, ...added] }
  })
}
