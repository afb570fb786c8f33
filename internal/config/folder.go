package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prepare creates the data folder, and restricts it and everything in it to its owner. It returns how many folders and
// files had wider permissions. The umask makes no difference.
func (s Base) Prepare() (corrected int, err error) {
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return 0, fmt.Errorf("data folder: %w", err)
	}
	err = filepath.WalkDir(s.Data, func(path string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // another process removed it
			return nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
			return err
		}
		if err := os.Chmod(path, info.Mode()&^0o077); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("others can open %s, which this process cannot change: let it own the folder, or name "+
				"another one in the setting data: %w", path, err)
		}
		corrected++
		return nil
	})
	if err != nil {
		return corrected, fmt.Errorf("data folder: %w", err)
	}
	return corrected, nil
}

// MailsPath returns the folder for messages if no mail server is set.
func (s Base) MailsPath() string { return filepath.Join(s.Data, "mails") }

// ReaderPath returns the folder in which the compiled reader of uploaded agreements is kept; it may be deleted.
func (s Base) ReaderPath() string { return filepath.Join(s.Data, "reader") }

// ErasedPath returns the file that lists who was erased.
func (s Base) ErasedPath() string { return filepath.Join(s.Data, "erased.txt") }

// KeyFromSetting is what Key returns in place of a file if the setting contains the key itself.
const KeyFromSetting = "the setting"

// Key reads the key of the secrets in the database; from is the file that has it, or would.
func (s Base) Key() (text, from string, err error) {
	if strings.HasPrefix(s.SecretKey, keyText) {
		return s.SecretKey, KeyFromSetting, nil
	}
	from = s.SecretKey
	if from == "" {
		from = filepath.Join(s.Data, "secret.key")
	}
	raw, err := os.ReadFile(from)
	return string(raw), from, err
}

// keyText is the prefix of a key, which no file name has.
const keyText = "alqk_"

// SealFiles returns the files of the key and the certificate for seals, and whether they may be made: they are in their
// usual places.
func (s Base) SealFiles() (key, certificate string, made bool) {
	key, certificate = s.SealKey, s.SealCert
	if key == "" {
		key = filepath.Join(s.Data, "seal.key")
	}
	if certificate == "" {
		certificate = filepath.Join(s.Data, "seal.pem")
	}
	return key, certificate, s.SealKey == "" && s.SealCert == ""
}

// RecordKeyPath returns the file of the keys that sign the log.
func (s Base) RecordKeyPath() (string, error) {
	switch {
	case s.RecordKey == "":
		return filepath.Join(s.Data, "record.key"), nil
	case strings.HasPrefix(s.RecordKey, "pkcs11:"):
		return "", errors.New("record-key: keys in a security module (pkcs11:) are not supported; name a file, which " +
			"can be in a folder that only this service's user can read")
	case strings.Contains(s.RecordKey, "PRIVATE+KEY+"):
		return "", errors.New("record-key: it must be the name of the file with the key, not the key; set " +
			"ALIQUOT_RECORD_KEY rather than ALIQUOT_RECORD_KEY_FILE")
	}
	return s.RecordKey, nil
}
