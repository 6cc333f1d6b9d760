import type { adminMessages as english } from '../../../en/pages/admin/console.ts'

/** Holds the messages of the frame of the operator pages. In Arabic. */
export const adminMessages: typeof english = {
  title: 'التشغيل',
  retry: 'إعادة المحاولة',
  sections: { people: 'الأشخاص' },
  roles: { owner: 'مالك', people: 'الأشخاص', apps: 'التطبيقات', auditor: 'مدقّق' },
  actAs: 'التصرّف باسم',
  actingAs: (handle, role) => `أنت تتصرّف باسم ${handle}. الدور: ${role}`,
  none: {
    title: 'لست مشغّلًا',
    about: 'يدير المشغّلون هذه الخدمة. إن كان ينبغي أن تكون منهم، فاطلب من مالك أن يضيفك.',
    back: 'العودة إلى حسابك',
  },
  denied: {
    title: 'لا يمكنك الوصول',
    lacking: 'تنقصك الصلاحية',
    ask: 'اطلب من مالك دورًا يملكها.',
  },
  commandLine: 'من سطر الأوامر',
  refused: {
    operator_protected: 'هذا حسابك أنت، أو مشغّل له صلاحيات تنقصك.',
    last_owner: 'تحتاج الخدمة إلى مالك. امنح شخصًا آخر هذا الدور أولًا.',
    identity_not_found: 'هذه الهوية غير موجودة.',
    permission_denied: 'تنقصك الصلاحية لهذا. اسأل أحد المالكين.',
  },
}
