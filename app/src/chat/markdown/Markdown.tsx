import { Square, SquareCheck } from 'lucide-react';
import { memo, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';

import { blocksOf } from './blocks';
import { Code } from './Code';
import { Link } from './Link';
import { usePaced } from './usePaced';

/** Text of a model as Markdown. While it grows, only its last block is parsed again. */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactNode {
  const shown = usePaced(text);
  const blocks = useMemo(() => blocksOf(shown), [shown]);
  return (
    <div className="md">
      {blocks.map((block, at) =>
        block.kind === 'code' ? (
          // A block keeps its place: what follows is only ever added.
          <Code key={at} language={block.language} text={block.text} open={block.open} />
        ) : (
          <TextBlock key={at} text={block.text} />
        ),
      )}
    </div>
  );
});

const PLUGINS = [remarkGfm];

const TextBlock = memo(function TextBlock({ text }: { text: string }): ReactNode {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

type HastElement = NonNullable<ExtraProps['node']>;

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href ?? ''}>{children}</Link>,
  img: ({ src, alt }) => <Image src={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  input: ({ checked }) => <Box checked={checked === true} />,
  pre: ({ node }) => <Fenced node={node} />,
  table: ({ children }) => (
    <div tabIndex={0} role="region" className="table-scroll">
      <table>{children}</table>
    </div>
  ),
};

/** A picture from elsewhere is not loaded: it would tell its server who reads. */
function Image({ src, alt }: { src: string; alt: string }): ReactNode {
  const { t } = useTranslation('chat');
  return <Link href={src}>{t('image', { name: alt === '' ? src : alt })}</Link>;
}

/** The box of a list of tasks: it tells, and nobody clicks it. */
function Box({ checked }: { checked: boolean }): ReactNode {
  const { t } = useTranslation('chat');
  const Icon = checked ? SquareCheck : Square;
  return <Icon size={14} role="img" aria-label={t(checked ? 'todo.completed' : 'todo.pending')} className="task-box" />;
}

/** Fenced code within a list or a quotation, and indented code. */
function Fenced({ node }: { node: HastElement | undefined }): ReactNode {
  const code = node?.children.find((child) => child.type === 'element');
  const names = code?.properties.className;
  const language = (Array.isArray(names) ? names : [])
    .map(String)
    .find((name) => name.startsWith('language-'));
  const text = (code?.children ?? [])
    .map((child) => (child.type === 'text' ? child.value : ''))
    .join('');
  return <Code language={language?.slice('language-'.length) ?? ''} text={text.replace(/\n$/, '')} />;
}
