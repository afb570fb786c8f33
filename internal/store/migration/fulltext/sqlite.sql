CREATE VIRTUAL TABLE material_words USING fts5 (words, content='', contentless_delete=1, tokenize="ascii tokenchars '=~^#@'");
CREATE VIRTUAL TABLE organization_words USING fts5 (words, content='', contentless_delete=1, tokenize="ascii tokenchars '=~^#@'");
CREATE VIRTUAL TABLE user_words USING fts5 (words, content='', contentless_delete=1, tokenize="ascii tokenchars '=~^#@'");
CREATE VIRTUAL TABLE request_words USING fts5 (words, content='', contentless_delete=1, tokenize="ascii tokenchars '=~^#@'");
